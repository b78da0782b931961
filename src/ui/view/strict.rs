//! Outside text that a decision depends on, with everything that had to be made visible marked.

use ratatui::style::Style;
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation;

use crate::text;
use crate::ui::flow::{self, Piece};
use crate::ui::theme::Theme;

/// The text as [`text::strict_block`] shows it; what cannot be seen by itself has the look of our
/// own marks.
pub(super) fn pieces(raw: &str, style: Style, theme: &Theme) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for grapheme in raw.graphemes(true) {
        if grapheme == "\n"
            || (grapheme.len() == 1 && grapheme.bytes().all(|b| (b' '..=b'~').contains(&b)))
        {
            flow::push(&mut pieces, grapheme, style);
            continue;
        }
        let shown = text::strict_block(grapheme);
        let style = if shown.as_str() == grapheme { style } else { theme.mark };
        flow::push(&mut pieces, shown.as_str(), style);
    }
    pieces
}

/// The same, wrapped.
pub(super) fn rows(raw: &str, columns: usize, style: Style, theme: &Theme) -> Vec<Line<'static>> {
    flow::wrap(&pieces(raw, style, theme), columns)
}
