//! Where the areas are, by size. Pure; never a rectangle outside the screen.

use ratatui::layout::Rect;

/// Smallest screen that is drawn.
pub const MIN: (u16, u16) = (40, 12);
/// From this width on the side panel stands beside the conversation.
pub const WIDE: u16 = 100;
/// Narrowest and widest side panel.
const PANEL: (u16, u16) = (24, 80);
/// Rows of the draft at most.
const INPUT_ROWS: u16 = 8;

/// What the parts would like to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Want {
    /// Columns of the side panel.
    pub sidebar: u16,
    /// Whether the side panel is shown; `None` is by width.
    pub panel: Option<bool>,
    /// Rows of text in the draft, given the columns it has.
    pub input_rows: u16,
    /// Rows of the decision box, frame included; 0 for none.
    pub dialog_rows: u16,
}

/// Below this height the draft loses its frame while a decision is asked, and the decision is told
/// in as few rows as can be.
pub const TIGHT: u16 = 16;

/// The areas of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Areas {
    /// The conversation.
    pub conversation: Rect,
    /// The side panel with its frame; empty when hidden.
    pub panel: Rect,
    /// The panel lies over the conversation instead of beside it.
    pub panel_over: bool,
    /// The decision box with its frame; empty when there is none.
    pub dialog: Rect,
    /// The draft with its frame; one row without a frame where there is no room.
    pub input: Rect,
    /// The status line.
    pub status: Rect,
}

/// Columns of the left part: what the draft and the decision box can use.
pub fn left_width(screen: Rect, want: Want) -> u16 {
    let beside = screen.width >= WIDE && want.panel != Some(false);
    if beside { screen.width - panel_width(screen, want) } else { screen.width }
}

/// Splits the screen; `None` when it is too small to be drawn.
pub fn areas(screen: Rect, want: Want) -> Option<Areas> {
    if screen.width < MIN.0 || screen.height < MIN.1 {
        return None;
    }
    let width = left_width(screen, want);
    let status = Rect { y: screen.bottom() - 1, height: 1, ..screen };
    let body = screen.height - 1;
    // Frame and text; at least a third is left for what the draft is about.
    let input_rows = match (want.dialog_rows > 0, screen.height < TIGHT) {
        (true, true) => 1,
        _ => want.input_rows.clamp(1, INPUT_ROWS).min((body / 3).max(1)) + 2,
    };
    let left = body - input_rows;
    let dialog_rows = dialog_rows(want.dialog_rows, left);
    let conversation = left - dialog_rows;
    let at = |y: u16, height: u16| Rect { x: screen.x, y: screen.y + y, width, height };
    let (panel, panel_over) = panel(screen, body, want, width);
    Some(Areas {
        conversation: at(0, conversation),
        dialog: at(conversation, dialog_rows),
        input: at(left, input_rows),
        panel,
        panel_over,
        status,
    })
}

/// A small screen gives everything to the box; on a large one a part of the conversation stays.
fn dialog_rows(wanted: u16, left: u16) -> u16 {
    let keep = if left < 16 { 0 } else { left / 4 };
    wanted.min(left - keep)
}

fn panel_width(screen: Rect, want: Want) -> u16 {
    want.sidebar.clamp(PANEL.0, PANEL.1).min(screen.width / 2)
}

fn panel(screen: Rect, body: u16, want: Want, left: u16) -> (Rect, bool) {
    if left < screen.width {
        let beside =
            Rect { x: screen.x + left, width: screen.width - left, height: body, ..screen };
        return (beside, false);
    }
    if want.panel != Some(true) || screen.width >= WIDE {
        return (Rect::default(), false);
    }
    let width = want.sidebar.clamp(PANEL.0, PANEL.1).max(38).min(screen.width);
    (Rect { x: screen.right() - width, width, height: body, ..screen }, true)
}

/// A rectangle of at most this size in the middle of another.
pub fn middle(screen: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    Rect {
        x: screen.x + (screen.width - width) / 2,
        y: screen.y + (screen.height - height) / 2,
        width,
        height,
    }
}

/// What is inside a frame.
pub fn inside(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(1),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_fit_and_never_overlap_at_any_size() {
        for width in 0..=130 {
            for height in 0..=60 {
                let screen = Rect::new(0, 0, width, height);
                for (panel, dialog_rows) in [(None, 0), (Some(true), 100), (Some(false), 9)] {
                    let want = Want { sidebar: 38, panel, input_rows: 20, dialog_rows };
                    let Some(areas) = areas(screen, want) else {
                        assert!(width < MIN.0 || height < MIN.1);
                        continue;
                    };
                    let mut shown =
                        vec![areas.conversation, areas.dialog, areas.input, areas.status];
                    if !areas.panel_over {
                        shown.push(areas.panel);
                    }
                    for (at, area) in shown.iter().enumerate() {
                        assert_eq!(area.intersection(screen), *area, "{area:?} in {screen:?}");
                        assert!(shown.iter().skip(at + 1).all(|other| !area.intersects(*other)));
                    }
                    assert_eq!(areas.panel.intersection(screen), areas.panel);
                    assert!(
                        areas.input.height >= 3 || (dialog_rows > 0 && areas.input.height == 1)
                    );
                }
            }
        }
    }
}
