//! Every frame passes here on its way to the terminal: a cell that would command it, or show what is
//! not there, becomes a mark. Views clean what they draw; this is for the one that forgot.

use ratatui::buffer::{Buffer, CellDiffOption};

use crate::text;

/// Goes through all cells of a frame. `loose` holds the cells behind clusters of the last frame that
/// are two columns for us and may be two characters for a terminal (flags, families): overwriting
/// the first column leaves the second one standing there, so they are drawn anew.
pub(super) fn sweep(buffer: &mut Buffer, loose: &mut Vec<usize>) {
    for at in loose.drain(..) {
        if let Some(cell) = buffer.content.get_mut(at) {
            cell.set_diff_option(CellDiffOption::AlwaysUpdate);
        }
    }
    for (at, cell) in buffer.content.iter_mut().enumerate() {
        if let Some(mark) = text::cell(cell.symbol()) {
            cell.set_symbol(mark);
        }
        let symbol = cell.symbol();
        if symbol.len() > 4 && symbol.chars().nth(1).is_some() && text::width(symbol) > 1 {
            loose.push(at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn what_was_not_cleaned_is_marked_and_the_rest_stays() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        for (cell, symbol) in
            buffer.content.iter_mut().zip(["a", "\u{1b}]52;c;x\u{7}", "\u{202e}", "é"])
        {
            cell.set_symbol(symbol);
        }
        sweep(&mut buffer, &mut Vec::new());
        let shown: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(shown, "a\u{fffd}\u{fffd}é");
    }

    #[test]
    fn second_half_of_a_flag_is_wiped_with_it() {
        let area = Rect::new(0, 0, 4, 1);
        let mut loose = Vec::new();
        let mut frame = |line: &str| {
            let mut buffer = Buffer::empty(area);
            buffer.set_string(0, 0, line, Style::default());
            sweep(&mut buffer, &mut loose);
            buffer
        };
        let (flag, blank) = (frame("a🇩🇪b"), frame("a   "));
        let wiped: Vec<u16> = flag.diff(&blank).into_iter().map(|(column, ..)| column).collect();
        assert_eq!(wiped, [1, 2, 3]);
    }
}
