//! Expectations of a case, held to a run.

use serde_json::Value;

use super::script::Run;
use super::seen::{Seen, clipboard, links, questions, squeeze};
use super::{Faults, texts};

pub(super) fn judge(run: &Run, checks: &[Value]) -> Faults {
    let mut faults = Faults::new();
    for check in checks {
        let at = check["at"].as_str().unwrap_or_default();
        let nothing = Seen::default();
        let seen = match run.seen.get(at) {
            Some(seen) => seen,
            None if at.is_empty() => &nothing,
            None => {
                faults.push(format!("there is no snapshot {at}"));
                continue;
            }
        };
        for (word, value) in check.as_object().unwrap() {
            let said = if word == "at" { Ok(()) } else { holds(run, seen, check, word, value) };
            if let Err(fault) = said {
                faults.push(format!("{word} {value} at “{at}”: {fault}"));
            }
        }
    }
    faults
}

type Said = Result<(), String>;

fn must(holds: bool, otherwise: impl FnOnce() -> String) -> Said {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn contains(run: &Run, seen: &Seen, word: &str, value: &Value) -> Option<Said> {
    let screen = || seen.text();
    Some(match word {
        // Words may be broken where a row ends.
        "screen_contains" => {
            let all = texts(value).iter().all(|text| seen.squeezed().contains(&squeeze(text)));
            must(all, screen)
        }
        "screen_not_contains" => {
            must(!texts(value).iter().any(|text| seen.text().contains(text)), screen)
        }
        "screen_contains_in_order" => {
            let whole = if seen.pages.is_empty() { seen.text() } else { seen.pages.clone() };
            let whole = squeeze(&whole);
            must(in_order(&whole, &texts(value)), || whole)
        }
        "line_contains" => {
            let text = value.as_str().unwrap();
            must(seen.pages.lines().any(|line| line.contains(text)), || seen.pages.clone())
        }
        "dialog_contains_any" => {
            let shown = squeeze(seen.dialog.as_deref().unwrap_or_default()).to_lowercase();
            let sets = value.as_array().unwrap();
            let any = |set: &Value| {
                texts(set).iter().any(|text| shown.contains(&squeeze(text).to_lowercase()))
            };
            must(sets.iter().all(any), || shown.clone())
        }
        "dialog_raw_absent" => {
            let shown = seen.dialog.clone().unwrap_or_default();
            let none = texts(value).iter().all(|text| !shown.contains(text.as_str()));
            must(none && !shown.is_empty(), || shown)
        }
        "marks_shown_for" => {
            let marked = texts(value).iter().all(|text| seen.text().contains(&marks(text)));
            must(marked, screen)
        }
        "marks_not_shown_for" => {
            let marked = texts(value).iter().any(|text| seen.text().contains(&marks(text)));
            must(!marked, screen)
        }
        "text_not_lost" => {
            let text = value.as_str().unwrap().trim_end();
            let sent = run.submitted().iter().any(|sent| sent.contains(text));
            must(sent || seen.text().contains(text), screen)
        }
        _ => return None,
    })
}

fn looks(seen: &Seen, word: &str, value: &Value) -> Option<Said> {
    let screen = || seen.text();
    Some(match word {
        "border_columns_equal" => {
            let torn = seen.torn();
            must(torn.is_empty() && value == true, || torn.join("\n"))
        }
        "composer_text" => must(seen.draft() == value.as_str().unwrap(), || seen.draft()),
        "composer_text_any_of" => {
            // What stands at the end of a draft cannot be seen.
            let draft = seen.draft();
            let any = texts(value).iter().any(|text| text.trim_end() == draft.trim_end());
            must(any, || draft)
        }
        "composer_starts_with" => {
            must(seen.draft().starts_with(value.as_str().unwrap()), || seen.draft())
        }
        "composer_columns" => {
            let cells = seen.draft_cells();
            let row = cells.first().copied().unwrap_or_default();
            let at = |text: &str| row.iter().position(|cell| cell == text);
            let wanted = value.as_object().unwrap().iter();
            let mut columns = wanted.map(|(text, column)| {
                (at(text).map(|at| at as u64) == column.as_u64()).then_some(()).ok_or(text)
            });
            must(columns.all(|column| column.is_ok()), || row.concat())
        }
        "dialog_open" => must(value == seen.asks(), screen),
        "warning_shown" => {
            let shown = seen.dialog.clone().unwrap_or_else(|| seen.text());
            must(value == shown.contains('⚠'), || shown)
        }
        "new_content_hint" => must(value == seen.text().contains("new row"), screen),
        "hint" => must(value == seen.text().contains("again to quit"), screen),
        "sidebar_rows_for_tool" => {
            let panel = seen.panel();
            let rows = panel.iter().filter(|row| row.contains("go_"));
            must(rows.count() as u64 == value.as_u64().unwrap(), || panel.join("\n"))
        }
        "full_redraw" => {
            let whole = seen.redrawn && seen.text().contains("message") && seen.torn().is_empty();
            must(value == whole, screen)
        }
        "no_shortcut_fired" => {
            must(value == (seen.alive && seen.frames_titled() == ["message"]), screen)
        }
        "alive" | "no_exit" => must(value == seen.alive, screen),
        "turn" if value == "cancelled" => {
            must(seen.text().to_lowercase().contains("cancelled"), screen)
        }
        _ => return None,
    })
}

fn wrote(run: &Run, word: &str, value: &Value) -> Option<Said> {
    let bytes = run.tty.bytes();
    let written = String::from_utf8_lossy(&bytes).into_owned();
    Some(match word {
        "output_bytes_contain_none_of" => {
            let found: Vec<String> =
                texts(value).into_iter().filter(|text| written.contains(text.as_str())).collect();
            must(found.is_empty(), || format!("{found:?}"))
        }
        "stdin_injected" => {
            let asked = questions(&bytes) as u64;
            must(Some(asked) == value.as_u64(), || asked.to_string())
        }
        "clipboard_text" => {
            let copied = clipboard(&bytes);
            must(copied.as_deref() == value.as_str(), || format!("{copied:?}"))
        }
        "link_targets_schemes_only" => {
            let schemes = texts(value);
            let links = links(&bytes);
            let known = |target: &str| {
                target
                    .split_once(':')
                    .is_some_and(|(scheme, _)| schemes.iter().any(|s| s == scheme))
            };
            let plain = |target: &str| target.bytes().all(|byte| byte.is_ascii_graphic());
            let sound = links.iter().all(|(target, _)| known(target) && plain(target));
            must(sound && !links.is_empty(), || format!("{links:?}"))
        }
        "link_for" => {
            let links = links(&bytes);
            let mut wanted = value.as_object().unwrap().iter();
            let has = |(label, target): (&String, &Value)| {
                links
                    .iter()
                    .any(|(to, shown)| shown == label && Some(to.as_str()) == target.as_str())
            };
            must(wanted.all(has), || format!("{links:?}"))
        }
        "stray_text_after_links" => {
            // Each is closed before anything else is written, and nothing of it is text.
            let (opened, closed) = (
                written.matches("\u{1b}]8;id").count(),
                written.matches("\u{1b}]8;;\u{1b}\\").count(),
            );
            let shown = run.seen.values().any(|seen| seen.text().contains("]8;"));
            must(value == (opened != closed || shown), || format!("{opened} and {closed}"))
        }
        _ => return None,
    })
}

fn became(run: &Run, seen: &Seen, word: &str, value: &Value, at: bool) -> Option<Said> {
    let received = run.stage.received();
    Some(match word {
        "submitted" => {
            let submitted = if at { seen.submitted.clone() } else { run.submitted() };
            must(submitted == texts(value), || format!("{submitted:?}"))
        }
        "submitted_count" => {
            run.stage.until_submitted(usize::try_from(value.as_u64().unwrap()).unwrap());
            let submitted = run.submitted();
            must(Some(submitted.len() as u64) == value.as_u64(), || format!("{submitted:?}"))
        }
        "tool_runs" => {
            must(Some(received.len() as u64) == value.as_u64(), || format!("{received:?}"))
        }
        "decision" => {
            let holds = match value.as_str().unwrap() {
                "none" => received.is_empty() && seen.asks(),
                "deny" => received.is_empty() && !seen.asks(),
                other => return Some(Err(format!("what is {other}?"))),
            };
            must(holds, || seen.text())
        }
        "sent_arguments_equal_input" => {
            let sent: Vec<&Value> =
                received.iter().map(|(params, _)| &params["arguments"]).collect();
            let equal = sent == run.proposed.iter().collect::<Vec<_>>();
            must(value == equal, || format!("{sent:?}"))
        }
        "wire_tool_name" => {
            let names: Vec<&Value> = received.iter().map(|(params, _)| &params["name"]).collect();
            must(names == [value], || format!("{names:?}"))
        }
        "no_panic" => must(value == !was_panic(run), || run.tty.contents()),
        "exit_code" => {
            must(run.exit.map(u64::from) == value.as_u64(), || format!("{:?}", run.exit))
        }
        // That it ends at all; in how long is the business of measurements.
        "exits_within_seconds" => must(run.exit.is_some(), || "it did not end".to_owned()),
        "termios_restored_while_stopped" => {
            must(value == (run.restored_while_stopped == Some(true)), || "not so".to_owned())
        }
        "same_top_row" => {
            let rows: Vec<String> =
                texts(value).iter().map(|at| run.seen[at].cells[0].concat()).collect();
            must(rows.windows(2).all(|two| two[0] == two[1]), || rows.join("\n"))
        }
        _ => return None,
    })
}

fn measured(run: &Run, word: &str, value: &Value) -> Option<Said> {
    let measured = &run.measured;
    let most = |figure: Option<f64>| {
        let limit = value.as_f64().unwrap();
        must(figure.is_some_and(|figure| figure <= limit), || format!("{figure:?}"))
    };
    Some(match word {
        "idle_writes_max" => most(measured.idle_frames),
        "idle_cpu_percent_max" => most(measured.idle_percent),
        "frames_per_second_max" => most(measured.frames_a_second),
        // A key that costs a small part of a screen, whatever the history, is a key that is fast.
        "key_latency_ms_p95_max" => {
            must(measured.bytes_a_key.is_some_and(|(most, screen)| most * 2 < screen), || {
                format!("{:?} bytes a key, cells of the screen", measured.bytes_a_key)
            })
        }
        _ => return None,
    })
}

fn holds(run: &Run, seen: &Seen, check: &Value, word: &str, value: &Value) -> Said {
    contains(run, seen, word, value)
        .or_else(|| looks(seen, word, value))
        .or_else(|| wrote(run, word, value))
        .or_else(|| became(run, seen, word, value, check.get("at").is_some()))
        .or_else(|| measured(run, word, value))
        .unwrap_or_else(|| Err("the driver does not know this".to_owned()))
}

fn was_panic(run: &Run) -> bool {
    let written = String::from_utf8_lossy(&run.tty.bytes()).into_owned();
    written.contains("panicked at") || run.exit == Some(101)
}

fn in_order(whole: &str, parts: &[String]) -> bool {
    let mut rest = whole;
    parts.iter().all(|part| match rest.split_once(part.as_str()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// How characters that cannot be seen are shown.
fn marks(text: &str) -> String {
    text.chars().map(|c| c.escape_unicode().to_string()).collect()
}
