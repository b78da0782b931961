use std::collections::BTreeMap;

use super::*;
use crate::domain::{Era, Mode};
use crate::permission::{Pattern, RuleOrigin};
use crate::pin::Pin;

fn home() -> (tempfile::TempDir, Paths) {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("state");
    let paths = Paths { config: at.clone(), state: at.clone(), data: at };
    (dir, paths)
}

fn rule(tool: &str) -> Rule {
    Rule {
        tool: Pattern(tool.to_owned()),
        when: Vec::new(),
        read_only: None,
        destructive: None,
        from: Vec::new(),
        permissions: Mode::Auto,
        max_calls: None,
        pin: Some("ab".to_owned()),
        origin: RuleOrigin { file: None, line: None },
    }
}

fn pins(endpoint: &str, tool: &str, fingerprint: &str, allowed: bool) -> Pins {
    let pin = Pin { fingerprint: fingerprint.to_owned(), allowed, ..Pin::default() };
    let tools = BTreeMap::from([(tool.to_owned(), pin)]);
    Pins { servers: BTreeMap::from([(endpoint.to_owned(), tools)]), ..Pins::default() }
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777).unwrap_or_default()
}

#[test]
fn rules_are_added_and_read_back_with_their_place() {
    let (_dir, paths) = home();
    append_rule(&paths, &"a".into(), &rule("read")).unwrap();
    append_rule(&paths, &"b".into(), &rule("x: \"y\" # *")).unwrap();
    let (rules, warnings) = read_rules(&paths);
    assert_eq!(warnings, []);
    assert_eq!(rules.len(), 2);
    assert_eq!(rules[1].0, "b".into());
    assert_eq!(rules[1].1.tool, Pattern("x: \"y\" # *".to_owned()));
    assert_eq!(rules[1].1.pin.as_deref(), Some("ab"));
    assert_eq!(rules[1].1.origin.file, Some(paths.rules_file()));
}

#[test]
fn what_stands_in_the_rules_stays_comments_too() {
    let (_dir, paths) = home();
    private_dir(&paths.state).unwrap();
    fs::write(paths.rules_file(), "# mine\n- { server: a, tool: x, permissions: ask }").unwrap();
    append_rule(&paths, &"a".into(), &rule("read")).unwrap();
    let text = fs::read_to_string(paths.rules_file()).unwrap();
    assert!(text.starts_with("# mine\n- { server: a, tool: x, permissions: ask }\n"), "{text}");
    assert_eq!(read_rules(&paths).0.len(), 2);
}

#[test]
fn a_rules_file_that_is_no_list_is_not_touched() {
    let (_dir, paths) = home();
    private_dir(&paths.state).unwrap();
    for text in ["[]\n", "a: b\n", "- [\n"] {
        fs::write(paths.rules_file(), text).unwrap();
        let error = append_rule(&paths, &"a".into(), &rule("read")).unwrap_err();
        assert!(error.to_string().contains("rules.yaml"), "{error}");
        assert_eq!(fs::read_to_string(paths.rules_file()).unwrap(), text);
    }
}

#[test]
fn pins_of_two_instances_are_merged() {
    let (_dir, paths) = home();
    merge_pins(&paths, &pins("https://a/", "x", "1", true)).unwrap();
    merge_pins(&paths, &pins("https://a/", "y", "2", false)).unwrap();
    let all = merge_pins(&paths, &pins("https://a/", "x", "1", false)).unwrap();
    assert!(all.servers["https://a/"]["x"].allowed);
    let all = merge_pins(&paths, &pins("https://a/", "x", "3", false)).unwrap();
    // Merely seen by another instance: what was allowed stays what is compared with.
    assert_eq!(all.servers["https://a/"]["x"].fingerprint, "1");
    let all = merge_pins(&paths, &pins("https://a/", "x", "3", true)).unwrap();
    assert_eq!(all.servers["https://a/"]["x"].fingerprint, "3");
    assert_eq!(read_pins(&paths), (all, vec![]));
}

#[test]
fn pins_that_cannot_be_understood_are_moved_aside_and_nothing_of_them_is_trusted() {
    let (_dir, paths) = home();
    private_dir(&paths.state).unwrap();
    let foreign = [
        "{\"servers\":",
        "[]",
        "{\"a\":1}",
        "{\"version\":2,\"servers\":{\"https://a/\":{\"x\":{\"fingerprint\":\"1\",\"allowed\":true}}}}",
        "\u{1f600}",
    ];
    for (at, text) in foreign.iter().enumerate() {
        fs::write(paths.pins_file(), text).unwrap();
        let (none, warnings) = read_pins(&paths);
        assert_eq!((none, warnings.len()), (Pins::default(), 1), "{text}");
        let ending = if at == 0 { String::new() } else { format!("-{}", at + 1) };
        let aside = paths.state.join(format!("pins.json.damaged{ending}"));
        assert!(warnings[0].message.contains(&*aside.to_string_lossy()), "{warnings:?}");
        assert_eq!(fs::read_to_string(aside).unwrap(), *text);
        assert!(!paths.pins_file().exists());
    }
    merge_pins(&paths, &pins("https://a/", "x", "1", true)).unwrap();
    fs::write(paths.pins_file(), [0xff, 0xfe]).unwrap();
    merge_pins(&paths, &pins("https://a/", "y", "1", true)).unwrap();
    assert_eq!(read_pins(&paths).1, []);
    assert!(paths.state.join("pins.json.damaged-6").exists());
}

#[test]
fn a_file_of_pins_that_grows_too_large_keeps_the_fingerprints() {
    let (_dir, paths) = home();
    let text: serde_json::Value = "x".repeat(30_000).into();
    let mut many = Pins::default();
    for at in 0..600 {
        let pin = Pin {
            fingerprint: format!("{at}"),
            allowed: at % 2 == 0,
            definition: Some(std::sync::Arc::new(text.clone())),
            ..Pin::default()
        };
        many.servers.entry("e".to_owned()).or_default().insert(format!("t{at}"), pin);
    }
    merge_pins(&paths, &many).unwrap();
    let (read, warnings) = read_pins(&paths);
    assert_eq!((read.servers["e"].len(), warnings), (600, vec![]));
    assert!(read.servers["e"]["t1"].definition.is_none());
    assert!(read.servers["e"]["t2"].definition.is_some());
}

#[test]
fn many_at_once_lose_nothing() {
    let (_dir, paths) = home();
    let threads: Vec<_> = (0..8)
        .map(|index| {
            let paths = paths.clone();
            std::thread::spawn(move || {
                append_rule(&paths, &"a".into(), &rule(&format!("t{index}"))).unwrap();
                let name = format!("t{index}");
                merge_pins(&paths, &pins("https://a/", &name, "1", true)).unwrap();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(read_rules(&paths).0.len(), 8);
    assert_eq!(read_pins(&paths).0.servers["https://a/"].len(), 8);
    let left: Vec<_> = fs::read_dir(&paths.state)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[cfg(unix)]
#[test]
fn files_and_directories_are_for_this_user_alone() {
    let (_dir, paths) = home();
    append_rule(&paths, &"a".into(), &rule("read")).unwrap();
    merge_pins(&paths, &Pins::default()).unwrap();
    fs::write(paths.audit_file(), "").unwrap();
    fs::set_permissions(paths.audit_file(), std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .unwrap();
    drop(open_append(&paths.audit_file()).unwrap());
    assert_eq!(mode(&paths.state), 0o700);
    for file in [paths.rules_file(), paths.pins_file(), paths.audit_file()] {
        assert_eq!(mode(&file), 0o600, "{file:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_keeps_pointing_where_it_does() {
    let (dir, paths) = home();
    private_dir(&paths.state).unwrap();
    let real = dir.path().join("real.yaml");
    fs::write(&real, "# real\n").unwrap();
    std::os::unix::fs::symlink(&real, paths.rules_file()).unwrap();
    append_rule(&paths, &"a".into(), &rule("read")).unwrap();
    assert!(fs::symlink_metadata(paths.rules_file()).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("read"));
}

#[test]
fn a_place_that_cannot_be_written_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let blocked = dir.path().join("file");
    fs::write(&blocked, "").unwrap();
    let paths = Paths { config: blocked.clone(), state: blocked.clone(), data: blocked };
    let error = append_rule(&paths, &"a".into(), &rule("read")).unwrap_err();
    let warning = Warning::from(error);
    assert_eq!(warning.source, Source::Program);
    assert!(!warning.advice.is_empty());
    assert!(merge_pins(&paths, &Pins::default()).is_err());
}

#[test]
fn a_full_disk_says_what_to_do() {
    let error = StoreError {
        action: "write",
        path: "x".into(),
        source: io::Error::from(io::ErrorKind::StorageFull),
    };
    assert!(error.advice().contains("space"));
}

#[test]
fn a_file_that_exists_is_not_created_again() {
    let (_dir, paths) = home();
    assert!(create_new(&paths.config_file(), b"a").unwrap());
    assert!(!create_new(&paths.config_file(), b"b").unwrap());
    assert_eq!(fs::read_to_string(paths.config_file()).unwrap(), "a");
}

#[test]
fn eras_are_remembered_beside_what_others_remember_and_forgotten() {
    use crate::mcp::memory::Seen;
    let (_dir, paths) = home();
    let seen = |era| Some(Seen { era, version: "v".to_owned(), when: 1 });
    let change = |key: &str, change| Changes::from([(key.to_owned(), change)]);
    merge_eras(&paths, &change("a", seen(Era::Legacy))).unwrap();
    merge_eras(&paths, &change("b", seen(Era::Modern))).unwrap();
    assert_eq!(read_eras(&paths).endpoints.len(), 2);
    merge_eras(&paths, &change("a", None)).unwrap();
    let left: Vec<_> = read_eras(&paths).endpoints.into_keys().collect();
    assert_eq!(left, ["b"]);
    #[cfg(unix)]
    assert_eq!(mode(&paths.eras_file()), 0o600);
}

#[test]
fn a_damaged_memory_of_eras_is_none_and_is_written_anew() {
    let (_dir, paths) = home();
    private_dir(&paths.state).unwrap();
    for text in ["{", "[]", "{\"endpoints\": {\"a\": 1}}", "\u{0}"] {
        fs::write(paths.eras_file(), text).unwrap();
        assert_eq!(read_eras(&paths), Eras::default(), "{text}");
    }
    let seen = crate::mcp::memory::Seen { era: Era::Legacy, version: String::new(), when: 1 };
    merge_eras(&paths, &Changes::from([("a".to_owned(), Some(seen))])).unwrap();
    assert_eq!(read_eras(&paths).endpoints.len(), 1);
}
