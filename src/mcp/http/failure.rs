//! The words for a request that failed on the way.

use std::error::Error;

use reqwest::Error as HttpError;
use url::Url;

use super::super::fault::Fault;
use crate::domain::Stage;
use crate::net::{is_set, is_this_machine, proxy_variable};
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
        Stage::Tls => {
            let (seen, advice) = tls(&cause);
            format!("No secure connection to {host}:{port}: {seen}. {advice}")
        }
        _ if error.is_timeout() => format!(
            "No connection to {host}:{port} within {} s. Check the network and whether the server is up.",
            super::CONNECT.as_secs()
        ),
        _ => {
            let both = is_this_machine(url) && url.domain().is_some();
            let tried = if both { " (127.0.0.1 and [::1])" } else { "" };
            format!(
                "No connection to {host}:{port}{tried}: {cause}. Check whether the server is up."
            )
        }
    };
    let proxy = proxy_variable(url, is_set)
        .map(|name| format!(" The proxy that {name} names may be the reason."))
        .unwrap_or_default();
    Fault::NotSent { stage, reason: reason + &proxy, retry: true }
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

/// The same in one sentence and the next.
pub(super) fn tls_told(cause: &str) -> String {
    let (seen, advice) = tls(cause);
    format!("no secure connection: {seen}. {advice}")
}

/// What is wrong with a secure connection, and what to do, from the words of the TLS library.
fn tls(cause: &str) -> (String, &'static str) {
    const PRIVATE: &str = "If it belongs to an authority of your own, name that authority's certificate in mcp.caFile or SSL_CERT_FILE.";
    const RENEW: &str = "Whoever runs the server has to renew it; check this machine's clock, too.";
    const ENDED: &str = "the other side ended the connection instead of agreeing on TLS";
    const OTHER: &str = "Perhaps the URL has to begin with http://, or the port is another one.";
    // The library names faults by the words of its code.
    let known = [
        (
            "UnknownIssuer",
            "its certificate comes from an authority that is not trusted here",
            PRIVATE,
        ),
        (
            "CaUsedAsEndEntity",
            "its certificate is signed by itself and made for an authority, not for a server",
            "If you trust it, name this very certificate in mcp.caFile; better is one that is made for servers (basicConstraints CA:FALSE).",
        ),
        ("Expired", "its certificate has expired", RENEW),
        ("expired", "its certificate has expired", RENEW),
        ("NotValidYet", "its certificate is not valid yet", RENEW),
        (
            "not valid for name",
            "its certificate is for another name",
            "Check the host name in the URL.",
        ),
        (
            "NotValidForName",
            "its certificate is for another name",
            "Check the host name in the URL.",
        ),
        (
            "Revoked",
            "its certificate was revoked",
            "Do not use this server before that is cleared up.",
        ),
        ("onnection reset", ENDED, OTHER),
        ("eof", ENDED, OTHER),
        ("InvalidContentType", "what answers there does not speak TLS", OTHER),
    ];
    match known.iter().find(|(word, _, _)| cause.contains(word)) {
        Some((_, seen, advice)) => (format!("{seen} ({cause})"), advice),
        None => (
            cause.to_owned(),
            "Check the URL and the port; for an authority of your own name its certificate in mcp.caFile or SSL_CERT_FILE.",
        ),
    }
}

/// The innermost cause says most.
pub(super) fn last_cause(error: &(dyn Error + 'static)) -> String {
    let last = causes(error).last().map(ToString::to_string).unwrap_or_default();
    last.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::tls;

    #[test]
    fn faults_of_a_secure_connection_are_told_in_words_with_what_to_do() {
        for (cause, seen, advice) in [
            ("invalid peer certificate: UnknownIssuer", "not trusted", "mcp.caFile"),
            (
                "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))",
                "itself",
                "mcp.caFile",
            ),
            (
                "invalid peer certificate: certificate expired: verification time 5",
                "expired",
                "clock",
            ),
            ("received corrupt message of type InvalidContentType", "speak TLS", "http://"),
            ("Connection reset by peer (os error 104)", "instead of agreeing", "http://"),
            ("peer is a teapot", "peer is a teapot", "mcp.caFile"),
        ] {
            let (told, what_to_do) = tls(cause);
            assert!(told.contains(seen) && told.contains(cause), "{told}");
            assert!(what_to_do.contains(advice), "{what_to_do}");
        }
    }
}
