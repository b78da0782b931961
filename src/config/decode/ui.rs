//! `ui:` and `keys:`: what guards nothing.

use std::collections::BTreeMap;

use super::super::context::describe;
use super::super::model::{Notify, ThemeName};
use super::super::scalar;
use super::{Context, Fields, Node, Problem, UiConfig, Value, join, keys, plain_section};

pub(super) const THEMES: [(&str, ThemeName); 5] = [
    ("auto", ThemeName::Auto),
    ("dark", ThemeName::Dark),
    ("light", ThemeName::Light),
    ("ansi", ThemeName::Ansi),
    ("none", ThemeName::None),
];
pub(super) const NOTIFY: [(&str, Notify); 4] = [
    ("auto", Notify::Auto),
    ("bell", Notify::Bell),
    ("desktop", Notify::Desktop),
    ("off", Notify::Off),
];
/// Columns of the side panel: fewer show nothing, more leave nothing.
const SIDEBAR: std::ops::RangeInclusive<u64> = 16..=200;

pub(super) fn decode(context: &mut Context<'_>, node: &Node) -> UiConfig {
    let default = UiConfig::default();
    let fields =
        match Fields::of(node, "ui", "a map with `theme`, `mouse`, `sidebarWidth`, `notify`") {
            Ok(fields) => fields,
            Err(problem) => {
                context.warn(&problem);
                return default;
            }
        };
    let entries = plain_section(context, &fields, &keys::UI);
    let fields = Fields { entries: &entries, ..fields };
    context.origins.note("ui", &fields);
    let theme = fields.given("theme").map(|node| scalar::choice(node, "ui.theme", &THEMES));
    let mouse = fields.given("mouse").map(|node| scalar::switch(node, "ui.mouse"));
    let width = fields.given("sidebarWidth").map(|node| {
        let width = scalar::whole(node, "ui.sidebarWidth", *SIDEBAR.start(), *SIDEBAR.end())?;
        Ok(u16::try_from(width).unwrap_or(default.sidebar_width))
    });
    let notify = fields.given("notify").map(|node| scalar::choice(node, "ui.notify", &NOTIFY));
    UiConfig {
        theme: context.or_default(theme.unwrap_or(Ok(default.theme)), default.theme, "`auto`"),
        mouse: context.or_default(mouse.unwrap_or(Ok(default.mouse)), default.mouse, "`true`"),
        sidebar_width: context.or_default(
            width.unwrap_or(Ok(default.sidebar_width)),
            default.sidebar_width,
            "38",
        ),
        notify: context.or_default(notify.unwrap_or(Ok(default.notify)), default.notify, "`auto`"),
    }
}

/// Action name → key, as written. Which names exist is the keymap's to say.
pub(super) fn keys(context: &mut Context<'_>, node: &Node) -> BTreeMap<String, String> {
    let fields =
        match Fields::of(node, "keys", "a map of actions and keys, such as `{ approve: y }`") {
            Ok(fields) => fields,
            Err(problem) => {
                context.warn(&problem);
                return BTreeMap::new();
            }
        };
    let mut bound = BTreeMap::new();
    for (entry, first) in fields.repeated() {
        context.warn(&super::twice(&fields, entry, first));
    }
    let repeated: Vec<&str> =
        fields.repeated().iter().map(|(entry, _)| entry.key.as_str()).collect();
    context.origins.note("keys", &fields);
    for entry in fields.entries.iter().filter(|entry| !repeated.contains(&entry.key.as_str())) {
        let key = match &entry.value.value {
            Value::Text(text) if !text.is_empty() && !text.chars().any(char::is_control) => {
                text.clone()
            }
            Value::Int(digit @ 0..=9) => digit.to_string(),
            _ => {
                context.warn(&Problem::new(
                    entry.value.at,
                    join("keys", &entry.key),
                    format!("found {}, which names no key", describe(&entry.value)),
                    "Write a key such as `y`, `enter` or `ctrl-p`, in quotes if it is a sign.",
                ));
                continue;
            }
        };
        bound.insert(entry.key.clone(), key);
    }
    bound
}
