//! Following the cursors of a list, with a guard against servers that never end (N1–N4). Pure.

use std::collections::HashSet;

/// Most pages that are read of one list.
pub const PAGE_LIMIT: usize = 1000;
/// Most tools that are kept of one server.
pub const TOOL_LIMIT: usize = 10_000;

/// What comes after a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// Ask again with this cursor, exactly as it is; it may be empty (N2).
    Fetch(String),
    /// The list is complete.
    End,
    /// A cursor came back: the pages would never end. What was read is kept (N4).
    Repeats,
    /// The list is cut here: why, in words. What was read is kept (N4).
    Stop(String),
}

/// One walk over the pages of a list.
#[derive(Debug, Default)]
pub struct Pages {
    seen: HashSet<String>,
    count: usize,
    items: usize,
}

impl Pages {
    /// A page with so many items came, and this cursor. Only its absence ends the list (N2).
    pub fn after(&mut self, items: usize, cursor: Option<String>) -> After {
        self.count += 1;
        self.items += items;
        let Some(cursor) = cursor else { return After::End };
        if self.items >= TOOL_LIMIT {
            return After::Stop(format!("more than the limit of {TOOL_LIMIT} tools"));
        }
        if self.count >= PAGE_LIMIT {
            return After::Stop(format!("more than the limit of {PAGE_LIMIT} pages"));
        }
        if !self.seen.insert(cursor.clone()) {
            return After::Repeats;
        }
        After::Fetch(cursor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_an_absent_cursor_ends_the_list() {
        let mut pages = Pages::default();
        assert_eq!(pages.after(2, Some(String::new())), After::Fetch(String::new()));
        assert_eq!(pages.after(1, None), After::End);
    }

    #[test]
    fn a_cursor_that_comes_back_stops_the_walk() {
        let mut pages = Pages::default();
        assert_eq!(pages.after(2, Some("8".to_owned())), After::Fetch("8".to_owned()));
        assert_eq!(pages.after(2, Some("8".to_owned())), After::Repeats);
    }

    #[test]
    fn too_many_tools_stop_the_walk_and_the_limit_is_named() {
        let After::Stop(why) = Pages::default().after(TOOL_LIMIT, Some("a".to_owned())) else {
            panic!("it goes on");
        };
        assert!(why.contains("10000 tools"), "{why}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn every_walk_ends(cursors in proptest::collection::vec("[a-c]{0,2}", 2000)) {
            let mut pages = Pages::default();
            let fetched = cursors
                .into_iter()
                .take_while(|cursor| {
                    matches!(pages.after(1, Some(cursor.clone())), After::Fetch(_))
                })
                .count();
            prop_assert!(fetched < PAGE_LIMIT);
        }
    }
}
