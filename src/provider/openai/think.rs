//! Reasoning that comes inside the text, between think marks. Only marks at the beginning of the
//! answer count: later ones are text. Marks may be cut anywhere.

/// Opening and closing marks.
const MARKS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Reasoning(String),
}

/// Separates text from reasoning.
#[derive(Debug)]
pub(super) struct Think {
    state: State,
    held: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but blanks, or the beginning of a mark, has come since the start or a closing mark.
    Start { after_reasoning: bool },
    /// Inside reasoning that ends with this mark.
    Inside { close: &'static str, begun: bool },
    /// In the text.
    Text,
}

impl Default for Think {
    fn default() -> Self {
        Self { state: State::Start { after_reasoning: false }, held: String::new() }
    }
}

impl Think {
    /// The pieces that can be told apart so far.
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.held.push_str(text);
        while self.step(&mut pieces) {}
        pieces
    }

    /// Whether marks can still come, or are open: reasoning that comes another way ends that.
    pub(super) fn end(&mut self) -> Vec<Piece> {
        let held = std::mem::take(&mut self.held);
        let piece = match self.state {
            State::Start { after_reasoning: true } => Piece::Text(held.trim_start().to_owned()),
            State::Inside { .. } => Piece::Reasoning(held),
            State::Start { .. } | State::Text => Piece::Text(held),
        };
        match piece {
            Piece::Text(text) | Piece::Reasoning(text) if text.is_empty() => Vec::new(),
            piece => vec![piece],
        }
    }

    /// One change of state; `false` when more bytes are needed.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        match self.state {
            State::Start { after_reasoning } => self.start(after_reasoning, pieces),
            State::Inside { close, begun } => self.inside(close, begun, pieces),
            State::Text => {
                let text = std::mem::take(&mut self.held);
                if !text.is_empty() {
                    pieces.push(Piece::Text(text));
                }
                false
            }
        }
    }

    fn start(&mut self, after_reasoning: bool, pieces: &mut Vec<Piece>) -> bool {
        let begin = self.held.trim_start();
        if let Some((close, rest)) =
            MARKS.iter().find_map(|(open, close)| Some((*close, begin.strip_prefix(open)?)))
        {
            self.held = rest.to_owned();
            self.state = State::Inside { close, begun: false };
            return true;
        }
        if MARKS.iter().any(|(open, _)| open.starts_with(begin)) {
            return false;
        }
        let text = if after_reasoning { begin.to_owned() } else { std::mem::take(&mut self.held) };
        self.held.clear();
        self.state = State::Text;
        pieces.push(Piece::Text(text));
        false
    }

    fn inside(&mut self, close: &'static str, begun: bool, pieces: &mut Vec<Piece>) -> bool {
        if !begun {
            self.held = self.held.trim_start().to_owned();
            if self.held.is_empty() {
                return false;
            }
        }
        self.state = State::Inside { close, begun: true };
        if let Some((thought, rest)) = self.held.split_once(close) {
            let (thought, rest) = (thought.to_owned(), rest.to_owned());
            if !thought.is_empty() {
                pieces.push(Piece::Reasoning(thought));
            }
            self.held = rest;
            self.state = State::Start { after_reasoning: true };
            return true;
        }
        let safe = self.held.len() - begun_mark(&self.held, close);
        let rest = self.held.split_off(safe);
        let thought = std::mem::replace(&mut self.held, rest);
        if !thought.is_empty() {
            pieces.push(Piece::Reasoning(thought));
        }
        false
    }
}

/// Length of the longest end of `text` that could be the beginning of `mark`.
fn begun_mark(text: &str, mark: &str) -> usize {
    (1..mark.len())
        .rev()
        .find(|length| mark.get(..*length).is_some_and(|begin| text.ends_with(begin)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn apart(pieces: &[&str]) -> (String, String) {
        let mut think = Think::default();
        let mut found: Vec<Piece> = pieces.iter().flat_map(|piece| think.push(piece)).collect();
        found.extend(think.end());
        let (mut text, mut reasoning) = (String::new(), String::new());
        for piece in found {
            match piece {
                Piece::Text(piece) => text.push_str(&piece),
                Piece::Reasoning(piece) => reasoning.push_str(&piece),
            }
        }
        (text, reasoning)
    }

    #[test]
    fn marks_cut_anywhere_are_seen_and_other_tags_stay() {
        let pieces =
            ["<th", "ink>", "Add 2 and 2", "</th", "ink>", "\n\nIt is 4, and ", "<b>", "."];
        assert_eq!(apart(&pieces), ("It is 4, and <b>.".to_owned(), "Add 2 and 2".to_owned()));
    }

    #[test]
    fn marks_in_the_middle_of_the_text_are_text() {
        let text = "Write <think>so</think> in HTML";
        assert_eq!(apart(&[text]), (text.to_owned(), String::new()));
    }

    #[test]
    fn reasoning_without_an_end_is_reasoning() {
        assert_eq!(apart(&["<think>\nstill </thi"]), (String::new(), "still </thi".to_owned()));
    }

    #[test]
    fn text_that_only_begins_like_a_mark_is_not_lost() {
        assert_eq!(apart(&["  <thi"]).0, "  <thi");
        assert_eq!(apart(&["<", "b>"]).0, "<b>");
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_text_and_reasoning(
            text in "( |\n)?(<think>|<thinking>)?[a-z<>/\n ]{0,12}(</think>|</thinking>)?[ä<>a-z \n]{0,12}",
            cuts in proptest::collection::vec(0usize..60, 0..8),
        ) {
            let mut cuts: Vec<usize> =
                cuts.into_iter().filter(|cut| text.is_char_boundary(*cut)).collect();
            cuts.push(0);
            cuts.push(text.len());
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).filter_map(|pair| text.get(pair[0]..pair[1])).collect();
            prop_assert_eq!(apart(&pieces), apart(&[&text]));
        }
    }
}
