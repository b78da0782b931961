//! The one place where exchanges with a server are recorded: beside the request and its response,
//! in none of their ways.

use bytes::Bytes;
use reqwest::header::HeaderMap;
use url::Url;

use super::super::fault::Fault;
use super::Verb;
use crate::domain::exchange::{About, Ending};
use crate::wire::{Request, Tap, Track};

/// An exchange on its way to the record, or nothing where none is kept.
#[derive(Debug, Default)]
pub(super) struct Traced(Option<Track>);

impl Traced {
    pub(super) fn begin(
        tap: Option<&Tap>,
        about: &About,
        verb: &Verb,
        url: &Url,
        headers: &HeaderMap,
    ) -> Self {
        let Some(tap) = tap else { return Self(None) };
        let (verb, body) = match verb {
            Verb::Post(body) => ("POST", body.as_ref()),
            Verb::Get => ("GET", &[][..]),
            Verb::Delete => ("DELETE", &[][..]),
        };
        let (headers, about) = (pairs(headers), about.clone());
        Self(Some(tap.begin(Request { verb, url, headers, body, about })))
    }

    /// The head is there. A response without a body has ended with it.
    pub(super) fn head(mut self, response: &reqwest::Response) -> Self {
        let Some(track) = self.0.take() else { return self };
        let status = response.status().as_u16();
        let version = match response.version() {
            reqwest::Version::HTTP_2 => "HTTP/2",
            reqwest::Version::HTTP_10 => "HTTP/1.0",
            _ => "HTTP/1.1",
        };
        track.head(status, version, pairs(response.headers()));
        if response.content_length() == Some(0) || matches!(status, 202 | 204) {
            track.end(Ending::Complete);
            return self;
        }
        Self(Some(track))
    }

    /// A piece of the body came, or its end.
    pub(super) fn chunk(&mut self, chunk: &Result<Option<Bytes>, Fault>) {
        match chunk {
            Ok(Some(bytes)) => {
                if let Some(track) = &self.0 {
                    track.piece(bytes);
                }
            }
            Ok(None) => {
                if let Some(track) = self.0.take() {
                    track.end(Ending::Complete);
                }
            }
            Err(fault) => std::mem::take(self).failed(fault),
        }
    }

    pub(super) fn failed(self, fault: &Fault) {
        if let Some(track) = self.0 {
            track.end(Ending::Failed(fault.to_string()));
        }
    }
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
}
