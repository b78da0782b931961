//! Messages that wait for the endpoint to say how large the model's window is. Pure.
//!
//! How tools are handed over depends on the window, so the first request waits for it: a moment, for
//! whoever answers, and never longer than the asking may take.

/// Whether the window is known, and what waits for it.
#[derive(Debug, Default)]
pub(super) struct Held {
    window: Window,
    texts: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Window {
    /// Nobody has asked.
    #[default]
    Unasked,
    /// The endpoint was asked.
    Awaited,
    /// It answered, or will not.
    Settled,
}

impl Held {
    /// Nothing is asked and nothing waits: the window is configured, or there is no model.
    pub(super) fn settled() -> Self {
        Self { window: Window::Settled, texts: Vec::new() }
    }

    /// Whether the endpoint has to be asked now. True once.
    pub(super) fn ask(&mut self) -> bool {
        let unasked = self.window == Window::Unasked;
        if unasked {
            self.window = Window::Awaited;
        }
        unasked
    }

    /// Keeps a message while the window is awaited, else gives it back.
    pub(super) fn keep(&mut self, text: String) -> Option<String> {
        if self.window == Window::Settled || text.trim().is_empty() {
            return Some(text);
        }
        self.texts.push(text);
        None
    }

    /// The messages that wait.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Takes one back. `None` if another one stands there.
    pub(super) fn take_back(&mut self, at: usize, text: &str) -> Option<String> {
        let found = self.texts.get(at).is_some_and(|waiting| waiting == text);
        found.then(|| self.texts.remove(at))
    }

    /// Takes all of them.
    pub(super) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.texts)
    }

    /// The answer is there, or does not come: what waited may go.
    pub(super) fn settle(&mut self) -> Vec<String> {
        self.window = Window::Settled;
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_is_asked_once_and_what_was_sent_meanwhile_goes_in_order() {
        let mut held = Held::default();
        assert_eq!((held.ask(), held.ask()), (true, false));
        assert_eq!((held.keep("one".into()), held.keep("two".into())), (None, None));
        assert_eq!(held.take_back(0, "two"), None);
        assert_eq!(held.settle(), ["one", "two"]);
        assert_eq!(held.keep("three".into()), Some("three".into()));
        assert!(!held.ask());
    }

    #[test]
    fn with_a_known_window_nothing_waits() {
        let mut held = Held::settled();
        assert!(!held.ask());
        assert_eq!(held.keep("one".into()), Some("one".into()));
    }
}
