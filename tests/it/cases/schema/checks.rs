//! What a case expects of the tools that are offered, member by member.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use mini_me_tui::domain::{Mode, PinState, Tool};
use mini_me_tui::permission::{Policy, ServerPolicy};
use mini_me_tui::schema::check;
use serde_json::{Map, Value, json};

use super::offered::{Offered, Sent};
use super::picture;

type Checked = Result<(), String>;

fn hold(holds: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(otherwise()) }
}

pub(super) fn listed(value: &Value) -> Vec<&str> {
    match value {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// One member of the expected file.
pub(super) fn member(
    key: &str,
    value: &Value,
    input: &Value,
    all: &Map<String, Value>,
    offered: &Offered,
) -> Checked {
    let names = || offered.sent.iter().map(|sent| sent.name.as_str());
    match key {
        "name_regex" => every(names(), |name| matches(name, value)),
        "names_unique" => {
            let unique: HashSet<&str> = names().collect();
            agree(value, unique.len() == offered.sent.len())
        }
        "tool_count" => hold(value.as_u64() == Some(offered.sent.len() as u64), || {
            format!("{} are offered", offered.sent.len())
        }),
        "tool_names_offered" => {
            let found: Vec<&str> = names().collect();
            hold(listed(value) == found, || format!("{found:?}"))
        }
        "stable_across_restarts" => agree(value, stable(input, offered)?),
        "model_names" => every(value.as_array().unwrap().iter(), |one| model_name(one, offered)),
        "approval_key" => approvals(value, offered),
        "each" => every(offered.sent.iter(), |sent| pointers(value, &sent.parameters)),
        "tools" => every(value.as_object().unwrap().iter(), |(name, checks)| {
            let sent = offered.by_tool(name)?;
            pointers(checks, &sent.parameters).map_err(|why| format!("{name}: {why}"))
        }),
        "absent_anywhere" => every(offered.sent.iter(), |sent| {
            let found = keywords(&sent.parameters);
            every(listed(value).into_iter(), |word| {
                hold(!found.contains(word), || format!("{word} in {}", sent.parameters))
            })
        }),
        "must_include" => every(listed(value).into_iter(), |name| offered.by_tool(name).map(drop)),
        "filtered" => every(listed(value).into_iter(), |name| {
            hold(offered.by_tool(name).is_err(), || format!("{name} is offered"))?;
            warned(name, offered)
        }),
        "may_drop_with_warning" => every(listed(value).into_iter(), |name| {
            if offered.by_tool(name).is_ok() { Ok(()) } else { warned(name, offered) }
        }),
        "warns_about" => every(listed(value).into_iter(), |word| warned(word, offered)),
        "property_count" => every(value.as_object().unwrap().iter(), |(name, count)| {
            let found = properties(&offered.by_tool(name)?.parameters).len() as u64;
            hold(count.as_u64() == Some(found), || format!("{name} has {found}"))
        }),
        "property_key_regex" => every(offered.sent.iter(), |sent| {
            every(properties(&sent.parameters).keys(), |key| matches(key, value))
        }),
        "argument_round_trip" => agree(value, true)
            .and_then(|()| every(offered.sent.iter(), |sent| arguments_return(sent, offered))),
        "limits" => limits(value, offered),
        "sidebar_widths" => every(value.as_array().unwrap().iter(), |width| {
            picture::at_width(width.as_u64().unwrap(), offered)
        }),
        // What must not happen is looked for while it is drawn.
        "must_not" if all.contains_key("sidebar_widths") => {
            let known = ["panic", "half of a wide character in the last column"];
            every(listed(value).into_iter(), |word| {
                hold(known.contains(&word), || format!("nobody looks for {word:?}"))
            })
        }
        _ => Err("an unknown member".to_owned()),
    }
}

fn every<T>(mut all: impl Iterator<Item = T>, check: impl FnMut(T) -> Checked) -> Checked {
    all.try_for_each(check)
}

fn agree(wanted: &Value, found: bool) -> Checked {
    hold(wanted.as_bool() == Some(found), || format!("it is {found}"))
}

/// A tool is missing only where the case says that it may be.
pub(super) fn nothing_is_lost(expected: &Map<String, Value>, offered: &Offered) -> Checked {
    if expected.contains_key("tool_names_offered") {
        return Ok(());
    }
    let may = |key: &str| expected.get(key).map(listed).unwrap_or_default();
    let may_go = [may("may_drop_with_warning"), may("filtered")].concat();
    let mut missing = offered.listed.iter().filter(|id| offered.sent.iter().all(|s| s.id != **id));
    let lost = missing.find(|id| !may_go.contains(&id.tool.as_str()));
    hold(lost.is_none(), || format!("{lost:?} is not offered"))
}

/// Whether a text fits a regular expression as JSON Schemas have them.
fn matches(text: &str, pattern: &Value) -> Checked {
    let schema = json!({"type": "object", "properties": {"it": {"pattern": pattern}}});
    let argument = json!({ "it": text }).as_object().unwrap().clone();
    check::check(&schema, &argument).map_err(|_told| format!("{text:?} does not fit {pattern}"))
}

fn model_name(one: &Value, offered: &Offered) -> Checked {
    let wanted = (one["server"].as_str(), one["tool"].as_str());
    let of = |sent: &&Sent| (Some(sent.id.server.as_str()), Some(sent.id.tool.as_str())) == wanted;
    let sent = offered.sent.iter().find(of).ok_or_else(|| format!("{wanted:?} is not offered"))?;
    if one["name_regex"].is_string() {
        return matches(&sent.name, &one["name_regex"]);
    }
    hold(one["name"] == sent.name, || format!("{wanted:?} is sent as {}", sent.name))
}

/// The names do not depend on the order in which servers are heard of.
fn stable(input: &Value, offered: &Offered) -> Result<bool, String> {
    let names = |offered: &Offered| {
        let mut names: Vec<_> =
            offered.sent.iter().map(|sent| (sent.id.clone(), sent.name.clone())).collect();
        names.sort();
        names
    };
    Ok(names(offered) == names(&Offered::turned_round(input)?)
        && names(offered) == names(&Offered::of(input)?))
}

/// What is allowed to one tool is allowed to no other.
fn approvals(value: &Value, offered: &Offered) -> Checked {
    hold(listed(value) == ["server", "original_name"], || format!("an unknown key: {value}"))?;
    let empty = Map::new();
    let now = Instant::now();
    every(offered.catalog.tools(), |granted| {
        let servers = offered.catalog.servers.iter();
        let servers = servers.map(|server| (server.name.clone(), ServerPolicy::default()));
        let mut policy = Policy::new(Mode::Ask, servers.collect());
        let known = |tool: &Tool| {
            let mut tool = tool.clone();
            tool.pin_state = PinState::Known;
            tool
        };
        policy.grant(&known(granted));
        every(offered.catalog.tools(), |tool| {
            let allowed = policy.decide(&known(tool), &empty, now).verdict == Mode::Auto;
            hold(allowed == (tool.id == granted.id), || format!("{} by {}", tool.id, granted.id))
        })
    })
}

fn pointers(checks: &Value, parameters: &Value) -> Checked {
    every(checks.as_array().unwrap().iter(), |check| {
        let found = parameters.pointer(check["pointer"].as_str().unwrap());
        every(check.as_object().unwrap().iter(), |(key, value)| {
            let holds = match key.as_str() {
                "pointer" => true,
                "equals" => found == Some(value),
                "exists" => value.as_bool() == Some(found.is_some()),
                "absent" => value.as_bool() == Some(found.is_none()),
                "is_object" => value.as_bool() == Some(found.is_some_and(Value::is_object)),
                "not_contains" => {
                    let text = found.map(Value::to_string).unwrap_or_default();
                    listed(value).iter().all(|word| !text.contains(word))
                }
                other => return Err(format!("an unknown check: {other}")),
            };
            hold(holds, || format!("{check} in {parameters}"))
        })
    })
}

/// The keywords of a schema, wherever a schema stands in it.
fn keywords(schema: &Value) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        for (key, value) in schema.as_object().into_iter().flatten() {
            found.insert(key.clone());
            match (key.as_str(), value) {
                ("default" | "enum" | "const" | "examples", _) => {}
                (
                    "properties" | "patternProperties" | "$defs" | "definitions"
                    | "dependentSchemas",
                    Value::Object(named),
                ) => waiting.extend(named.values()),
                (_, Value::Array(items)) => waiting.extend(items),
                (_, value) => waiting.push(value),
            }
        }
    }
    found
}

fn properties(schema: &Value) -> Map<String, Value> {
    schema["properties"].as_object().cloned().unwrap_or_default()
}

fn warned(word: &str, offered: &Offered) -> Checked {
    let word = word.to_lowercase();
    let found = offered.warnings.iter().any(|warning| warning.to_lowercase().contains(&word));
    hold(found, || format!("no warning speaks of {word}: {:#?}", offered.warnings))
}

/// Every property, under the key that the model is told, comes back under the server's own.
fn arguments_return(sent: &Sent, offered: &Offered) -> Checked {
    let (told, own) = (properties(&sent.parameters), properties(&sent.original));
    let marked = |keys: &Map<String, Value>| {
        let marks = keys.keys().enumerate();
        Value::Object(marks.map(|(nth, key)| (key.clone(), json!(format!("mark {nth}")))).collect())
    };
    let call = offered.called(&sent.name, &marked(&told));
    hold(call.name.as_str() == sent.name, || format!("called {}", call.name))?;
    let arguments = call.arguments.map_err(|bad| format!("{bad:?}"))?;
    let arguments = Value::Object(Map::clone(&arguments));
    hold(arguments == marked(&own), || format!("{} became {arguments}", marked(&told)))
}

fn limits(value: &Value, offered: &Offered) -> Checked {
    every(value.as_object().unwrap().iter(), |(key, most)| {
        let most = most.as_u64().unwrap();
        match key.as_str() {
            "seconds_max" => {
                let in_time = offered.took <= Duration::from_secs(most);
                hold(in_time, || format!("it took {:?}", offered.took))
            }
            "schema_bytes_max" => every(offered.sent.iter(), |sent| {
                let bytes = sent.parameters.to_string().len() as u64;
                hold(bytes <= most, || format!("{bytes} bytes"))
            }),
            other => Err(format!("an unknown limit: {other}")),
        }
    })
}
