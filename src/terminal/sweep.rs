//! Every frame passes here on its way to the terminal: a cell that would command it, or show what is
//! not there, becomes a mark. Views clean what they draw; this is for the one that forgot.

use ratatui::buffer::Buffer;

use crate::text;

/// Goes through all cells of a frame.
pub(super) fn sweep(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if let Some(mark) = text::cell(cell.symbol()) {
            cell.set_symbol(mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;

    #[test]
    fn what_was_not_cleaned_is_marked_and_the_rest_stays() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        for (cell, symbol) in
            buffer.content.iter_mut().zip(["a", "\u{1b}]52;c;x\u{7}", "\u{202e}", "é"])
        {
            cell.set_symbol(symbol);
        }
        sweep(&mut buffer);
        let shown: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(shown, "a\u{fffd}\u{fffd}é");
    }
}
