//! The decision box on a terminal: what is read there is what the server gets, byte for byte.
#![cfg(unix)]

use std::time::Instant;

use serde_json::json;

use crate::support::pty::{PATIENCE, Start, Tty};
use crate::support::stage::{Actor, Stage};

fn asked(arguments: &str, size: (u16, u16)) -> (Stage, Tty) {
    let mut stage = Stage::new(&[Actor::new("sh", &["run"])], "model", &json!({}));
    let tty = Tty::run(&Start::new(&["go"], size, stage.home()));
    stage.calls(&[("sh_run", arguments.to_owned())]);
    tty.until_text("your answer?");
    (stage, tty)
}

/// The rows of the box from the one that opens the arguments on.
fn arguments(tty: &Tty) -> Vec<String> {
    let shown = tty.contents();
    let rows = shown.lines().filter_map(|row| row.strip_prefix("┃ "));
    // The side panel may stand beside it.
    let rows = rows.filter_map(|row| row.split('┃').next()).map(|row| row.trim_end().to_owned());
    let mut rows: Vec<String> = rows.skip_while(|row| row != "{").collect();
    let end = rows.iter().position(|row| row == "}").expect("the arguments do not end");
    rows.truncate(end + 1);
    rows
}

/// What a person reads, as the bytes that stand for it: rows that go on joined, indentation left
/// out, our own marks back into the characters they stand for.
fn read(rows: &[String]) -> String {
    let joined: String = rows.iter().map(|row| row.trim_start().trim_start_matches("↪ ")).collect();
    let mut out = String::new();
    let (mut inside, mut rest) = (false, joined.chars());
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.as_str().starts_with("u{") => {
                let hex: String = rest.by_ref().skip(2).take_while(|c| *c != '}').collect();
                out.push(char::from_u32(u32::from_str_radix(&hex, 16).unwrap()).unwrap());
            }
            '\\' => {
                out.push(c);
                out.extend(rest.next());
            }
            '"' => {
                inside = !inside;
                out.push(c);
            }
            ' ' if !inside => {}
            c => out.push(c),
        }
    }
    out
}

#[test]
fn what_is_read_in_the_box_is_what_the_server_gets() {
    let proposed = concat!(
        r#"{"z":1.0,"a":1,"big":18446744073709551615,"bigger":123456789012345678901234567890,"neg":-0.0,"#,
        r#""exp":1e21,"nested":{"b":[1,2,{"c":null}],"a":"x"},"esc":"tab\t quote\" back\\slash \u0001 "#,
        r#"rtl\u202ezero\u200bwidth\\u202e\\u{202e}","uni":"é日本","key with \"quotes\"":"a/b","#,
        r#""text":"line one\nline two\n\n  indented and long enough to be broken into rows, which loses nothing at all of it"}"#,
    );
    let (stage, tty) = asked(proposed, (100, 60));
    let shown = read(&arguments(&tty));
    tty.types("y");
    stage.until_received(1);
    let (_, body) = stage.received().remove(0);
    let (_, sent) = body.split_once("\"arguments\":").unwrap();
    assert!(sent.starts_with(&shown), "read: {shown}\nsent: {sent}");
    for spelling in
        ["\"z\":1.0,\"a\":1,", "18446744073709551615", "-0.0", "rtl\u{202e}zero\u{200b}"]
    {
        assert!(shown.contains(spelling), "{spelling} in {shown}");
    }
}

#[test]
fn a_changed_call_is_asked_about_again_and_sent_as_it_was_changed() {
    let (stage, tty) = asked(r#"{"command":"rm -r build","force":true}"#, (100, 40));
    tty.types("e");
    tty.until_text("use these");
    // To the end of the first member's line, and back over its value.
    tty.types("\u{1b}[B\u{1b}[F\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}out\",");
    tty.until_text("rm -r out");
    tty.types("\u{13}");
    tty.until_text("you changed what was proposed");
    tty.until_text("− \"rm -r build\"");
    tty.until_text("+ \"rm -r out\"");
    tty.until_text("your answer?");
    let shown = read(&arguments(&tty));
    assert_eq!(shown, r#"{"command":"rm -r out","force":true}"#);
    assert_eq!(stage.received().len(), 0);
    tty.types("y");
    stage.until_received(1);
    assert!(stage.received()[0].1.contains(&format!("\"arguments\":{shown}")));
}

#[test]
fn a_megabyte_of_arguments_can_be_read_to_its_end_and_costs_a_screen() {
    let lines: Vec<String> = (0..60_000).map(|n| format!("entry {n}")).collect();
    let (stage, tty) = asked(&json!({ "lines": lines }).to_string(), (80, 24));
    for (key, shows) in
        [("\u{1b}[F", "entry 59999"), ("\u{1b}[H", "server sh"), ("\u{1b}[F", "entry 59999")]
    {
        let before = tty.bytes().len();
        tty.types(key);
        tty.until_text(shows);
        tty.settles();
        assert!(tty.bytes().len() - before < 16_000, "{} bytes", tty.bytes().len() - before);
    }
    // Another size while it is open: it is not answered unseen.
    tty.resize(39, 10);
    tty.until_text("needs 40");
    tty.types("y");
    tty.resize(60, 20);
    tty.until_text("keys go to your draft");
    tty.until_text("your answer?");
    assert_eq!(stage.received().len(), 0);
    let end = Instant::now() + PATIENCE;
    tty.types("n");
    while tty.contents().contains("Allow this call?") {
        assert!(Instant::now() < end, "{}", tty.contents());
        tty.pause();
    }
}
