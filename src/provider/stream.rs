//! An answer's bytes in, model events out, for any mapping. No I/O, no clock; bounded.
//!
//! The first character that is not blank decides how the answer is read: an endpoint that ignores
//! `stream: true` answers with one JSON value whatever its content type says. How the bytes are cut
//! into pieces never changes the events.

use serde_json::Value;

use super::fault;
use super::{ModelEvent, ProviderError};
use crate::sse;
use crate::sse::decoder::EVENT_LIMIT;

/// Blank bytes that may precede an answer before it counts as a stream.
const BLANK_LIMIT: usize = 64 * 1024;

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing of the answer has come yet.
    Waiting,
    /// It has begun.
    Running,
    /// The reason of its end is known; token counts and an end mark may follow.
    Closing,
    /// The end mark came: nothing more counts.
    Done,
}

/// What a protocol makes of the events of a stream or of a whole answer.
pub(super) trait Mapping: std::fmt::Debug + Send {
    /// One event of a stream.
    fn event(
        &mut self,
        event: &str,
        data: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ProviderError>;

    /// A whole answer in one JSON value.
    fn whole(&mut self, answer: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError>;

    /// The bytes are at their end: what was held back, and how it ended.
    fn end(&mut self, out: &mut Vec<ModelEvent>);

    /// How far the answer has come.
    fn progress(&self) -> Progress;
}

/// Decodes one answer.
#[derive(Debug)]
pub struct Decoder {
    frames: Frames,
    mapping: Box<dyn Mapping>,
    failed: bool,
}

#[derive(Debug)]
enum Frames {
    Undecided(Vec<u8>),
    Stream(Box<sse::Decoder>),
    Whole(Vec<u8>),
}

impl Decoder {
    pub(super) fn new(mapping: Box<dyn Mapping>) -> Self {
        Self { frames: Frames::Undecided(Vec::new()), mapping, failed: false }
    }

    /// Takes the next bytes and appends the events that they complete to `out`, also those that
    /// precede an error. After an error everything is ignored.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        if self.failed || self.progress() == Progress::Done {
            return Ok(());
        }
        let result = self.take(bytes, out);
        self.failed = result.is_err();
        result
    }

    /// The bytes are at their end. The last event is [`ModelEvent::Finished`] unless it failed.
    pub fn finish(mut self, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        if self.failed {
            return Ok(());
        }
        match std::mem::replace(&mut self.frames, Frames::Undecided(Vec::new())) {
            Frames::Undecided(_) => {}
            Frames::Stream(decoder) => self.unfinished(decoder.finish(), out)?,
            Frames::Whole(bytes) => {
                let answer = serde_json::from_slice(&bytes).map_err(|fault| {
                    fault::not_json("the answer", &String::from_utf8_lossy(&bytes), &fault)
                })?;
                self.mapping.whole(&answer, out)?;
            }
        }
        self.mapping.end(out);
        Ok(())
    }

    /// How far the answer has come.
    pub fn progress(&self) -> Progress {
        self.mapping.progress()
    }

    fn take(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        match &mut self.frames {
            Frames::Undecided(held) => {
                held.extend_from_slice(bytes);
                let Some(frames) = decide(held) else { return Ok(()) };
                let held = std::mem::take(held);
                self.frames = frames;
                self.take(&held, out)
            }
            Frames::Stream(decoder) => {
                decoder.push(bytes);
                self.drain(out)
            }
            Frames::Whole(held) if held.len() + bytes.len() > EVENT_LIMIT => {
                Err(fault::broken(format!(
                    "The answer is larger than the limit of {EVENT_LIMIT} bytes (whole answer)."
                )))
            }
            Frames::Whole(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn drain(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        let Frames::Stream(decoder) = &mut self.frames else { return Ok(()) };
        while let Some(event) = decoder.next() {
            let event =
                event.map_err(|limit| fault::broken(format!("The model's stream: {limit}.")))?;
            self.mapping.event(&event.event, &event.data, out)?;
            if self.mapping.progress() == Progress::Done {
                break;
            }
        }
        Ok(())
    }

    /// A last event that no blank line closed counts if its data is complete JSON.
    fn unfinished(
        &mut self,
        data: Option<String>,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let Some(data) = data else { return Ok(()) };
        let complete =
            data.trim() == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(&data).is_ok();
        if self.progress() == Progress::Done || !complete {
            return Ok(());
        }
        self.mapping.event("message", &data, out)
    }
}

/// How an answer that begins with `held` is read; `None` while it is blank.
fn decide(held: &[u8]) -> Option<Frames> {
    let first =
        held.iter().find(|byte| !byte.is_ascii_whitespace() && !matches!(byte, 0xEF | 0xBB | 0xBF));
    match first {
        Some(b'{' | b'[') => Some(Frames::Whole(Vec::new())),
        Some(_) => Some(Frames::Stream(Box::new(sse::Decoder::new(EVENT_LIMIT)))),
        None if held.len() > BLANK_LIMIT => {
            Some(Frames::Stream(Box::new(sse::Decoder::new(EVENT_LIMIT))))
        }
        None => None,
    }
}
