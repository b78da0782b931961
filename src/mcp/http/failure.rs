//! The words for a request that failed on the way.

use std::error::Error;

use reqwest::Error as HttpError;
use url::Url;

use super::super::fault::Fault;
use crate::domain::Stage;
use crate::redact;

/// Sorts an error of sending by what surely did not happen: without a connection nothing was sent.
pub(super) fn of_sending(error: HttpError, url: &Url) -> Fault {
    let error = error.without_url();
    if error.is_builder() {
        let reason = format!("The request cannot be made: {}.", last_cause(&error));
        return Fault::NotSent { stage: Stage::Http, reason, retry: false };
    }
    if !error.is_connect() {
        let reason = format!(
            "The connection to {} was lost before an answer came: {}.",
            redact::url(url),
            last_cause(&error)
        );
        return Fault::Lost { reason };
    }
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    let cause = last_cause(&error);
    let stage = stage(&error, url);
    let reason = match stage {
        Stage::Dns => {
            format!("The address of {host} was not found: {cause}. Check the URL and the network.")
        }
        Stage::Tls => format!(
            "No secure connection to {host}:{port}: {cause}. Check the URL; for a private authority name its certificate as extra CA file."
        ),
        _ if error.is_timeout() => format!(
            "No connection to {host}:{port} within {} s. Check the network and whether the server is up.",
            super::CONNECT.as_secs()
        ),
        _ => {
            let tried = if super::loopback(url).is_some() { " (127.0.0.1 and [::1])" } else { "" };
            format!(
                "No connection to {host}:{port}{tried}: {cause}. Check whether the server is up."
            )
        }
    };
    Fault::NotSent { stage, reason, retry: true }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

fn stage(error: &HttpError, url: &Url) -> Stage {
    if error.is_dns() || causes(error).any(|cause| cause.to_string().contains("dns error")) {
        return Stage::Dns;
    }
    let tcp = causes(error).any(|cause| {
        let words = cause.to_string();
        words.contains("tcp ") || words.contains("onnection refused")
    });
    if tcp || url.scheme() != "https" || error.is_timeout() { Stage::Tcp } else { Stage::Tls }
}

/// The innermost cause says most.
pub(super) fn last_cause(error: &(dyn Error + 'static)) -> String {
    let last = causes(error).last().map(ToString::to_string).unwrap_or_default();
    last.trim_end_matches('.').to_owned()
}
