//! A response: its head in the terms of the protocol, its body in bounded pieces.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};

use tokio::time::timeout;

use super::super::fault::Fault;
use super::super::retry;
use super::failure::last_cause;
use super::traced::Traced;

/// Largest JSON body, in bytes.
pub const JSON_LIMIT: usize = 32 * 1024 * 1024;
/// How much is read off after an answer, and for how long.
const READ_OFF_MOST: usize = 64 * 1024;
const READ_OFF_TIME: Duration = Duration::from_millis(500);
/// How much of a body is read that only serves for a message.
const EXCERPT_READ: usize = 16 * 1024;
/// How much of it is shown, in characters.
const EXCERPT_SHOWN: usize = 120;

/// One response.
#[derive(Debug)]
pub struct Response {
    inner: reqwest::Response,
    place: String,
    traced: Traced,
}

impl Response {
    pub(super) fn new(inner: reqwest::Response, place: String, traced: Traced) -> Self {
        Self { inner, place, traced }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.inner.status().as_u16()
    }

    /// Whether the status is a success.
    pub fn is_success(&self) -> bool {
        self.inner.status().is_success()
    }

    /// The media type in lower case, without parameters (H6); empty if none is named.
    pub fn media(&self) -> String {
        let value = self.text_header(CONTENT_TYPE.as_str());
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// A header as it is.
    pub fn header(&self, name: &str) -> Option<&HeaderValue> {
        self.inner.headers().get(name)
    }

    fn text_header(&self, name: &str) -> String {
        let value = self.header(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
        value.unwrap_or_default().into_owned()
    }

    /// How long the server asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        retry::retry_after(&self.text_header(RETRY_AFTER.as_str()), SystemTime::now())
    }

    /// All that `WWW-Authenticate` says.
    pub fn challenge(&self) -> String {
        let all = self.inner.headers().get_all(WWW_AUTHENTICATE).iter();
        let texts: Vec<_> = all.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        texts.join(", ")
    }

    /// `Err` where the body is packed, which was not asked for.
    pub fn check_coding(&self) -> Result<(), Fault> {
        let coding = self.text_header(CONTENT_ENCODING.as_str());
        let coding = coding.trim();
        if coding.is_empty() || coding.eq_ignore_ascii_case("identity") {
            return Ok(());
        }
        Err(Fault::Odd {
            reason: format!(
                "{} answers in the content coding “{coding}”, although none was asked for.",
                self.place
            ),
        })
    }

    /// The next piece of the body; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        let chunk = self.inner.chunk().await.map_err(|error| Fault::Lost {
            reason: format!(
                "The connection to {} was lost in the middle of the answer: {}.",
                self.place,
                last_cause(&error.without_url())
            ),
        });
        self.traced.chunk(&chunk);
        chunk
    }

    /// Reads what is left of a body that has served its purpose, if it is little and comes soon:
    /// only a connection whose last body was read to its end can be used again.
    pub async fn read_off(mut self: Box<Self>) {
        let reading = async {
            let mut left = READ_OFF_MOST;
            while let Ok(Some(chunk)) = self.chunk().await {
                left = left.saturating_sub(chunk.len());
                if left == 0 {
                    break;
                }
            }
        };
        // Whether it came to its end in time or not: that was all.
        timeout(READ_OFF_TIME, reading).await.unwrap_or_default();
    }

    /// Status, media type and place in words.
    pub fn seen(&self) -> String {
        let media = self.media();
        let kind = if media.is_empty() { "without a media type".to_owned() } else { media };
        format!("HTTP {} ({kind}) from {}", self.status(), self.place)
    }

    /// [`Self::seen`] with the beginning of the body, cleaned of markup. Reads a bounded part.
    pub async fn seen_with_excerpt(mut self) -> String {
        let seen = self.seen();
        let mut body = Vec::new();
        while body.len() < EXCERPT_READ {
            let Ok(Some(chunk)) = self.chunk().await else { break };
            body.extend_from_slice(&chunk);
        }
        body.truncate(EXCERPT_READ);
        match excerpt(&String::from_utf8_lossy(&body)) {
            text if text.is_empty() => seen,
            text => format!("{seen}: “{text}”"),
        }
    }
}

/// The words of a text without markup, scripts and control characters, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        words.push_str(before);
        words.push(' ');
        rest = after_tag(tag);
    }
    words.push_str(rest);
    let clean = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT_SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// What follows a tag that was opened; what a script or a style holds is no text.
fn after_tag(tag: &str) -> &str {
    for hidden in ["script", "style"] {
        let named = tag.get(..hidden.len()).is_some_and(|name| name.eq_ignore_ascii_case(hidden));
        if named {
            let end = format!("</{hidden}");
            let closing = tag.split_once(end.as_str()).map_or("", |(_, after)| after);
            return closing.split_once('>').map_or("", |(_, after)| after);
        }
    }
    tag.split_once('>').map_or("", |(_, after)| after)
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn an_excerpt_has_no_markup_and_no_scripts() {
        let page = "<!doctype html><html><head><title>Sign in</title><script>var a = '<b>';</script>\
                    </head><body>\n  Please <b>sign</b>\x1b[31m in</body></html>";
        assert_eq!(excerpt(page), "Sign in Please sign [31m in");
        assert_eq!(excerpt("<unclosed"), "");
    }

    #[test]
    fn an_excerpt_is_short() {
        assert_eq!(excerpt(&"é".repeat(500)).chars().count(), 121);
    }
}
