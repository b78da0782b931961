//! Exchanges with the model's endpoint on their way to the record: beside the request, in none of
//! its ways.

use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, Response, Version};

use crate::domain::exchange::{About, Ending};
use crate::wire::{Request, Tap, Track};

/// One exchange, or nothing where none is recorded.
#[derive(Debug, Default)]
pub(super) struct Traced(Option<Track>);

impl Traced {
    /// Sends a request and waits for the head of its response.
    pub(super) async fn send(
        &mut self,
        client: &Client,
        tap: Option<&Tap>,
        request: RequestBuilder,
    ) -> Result<Response, reqwest::Error> {
        let request = request.build()?;
        self.0 = tap.map(|tap| {
            tap.begin(Request {
                verb: "POST",
                url: request.url(),
                headers: pairs(request.headers()),
                body: request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default(),
                about: About::default(),
            })
        });
        let response = client.execute(request).await?;
        if let Some(track) = &self.0 {
            let version = match response.version() {
                Version::HTTP_2 => "HTTP/2",
                Version::HTTP_10 => "HTTP/1.0",
                _ => "HTTP/1.1",
            };
            track.head(response.status().as_u16(), version, pairs(response.headers()));
        }
        Ok(response)
    }

    /// A piece of the answer came.
    pub(super) fn piece(&self, bytes: &[u8]) {
        if let Some(track) = &self.0 {
            track.piece(bytes);
        }
    }

    /// The answer was read to its end.
    pub(super) fn complete(&mut self) {
        if let Some(track) = self.0.take() {
            track.end(Ending::Complete);
        }
    }

    /// It failed.
    pub(super) fn failed(&mut self, why: &str) {
        if let Some(track) = self.0.take() {
            track.end(Ending::Failed(why.to_owned()));
        }
    }
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
}
