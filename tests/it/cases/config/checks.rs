//! Each member of an expected file, held against what was seen.

use std::time::Duration;

use serde_json::Value;

use super::seen::Seen;
use super::world::World;
use crate::support::fake::Request;

type Checked = Result<(), String>;

/// Words for people, and what sets a run up instead of judging it.
const NOT_JUDGED: [&str; 17] = [
    "case",
    "type",
    "input",
    "env",
    "cwd_files",
    "either",
    "variants",
    "faults",
    "server_answers",
    "log_level",
    "server_tools",
    "open_question",
    "notes",
    "where",
    "ca",
    "listen",
    "scenario",
];

/// Whether a member says something that a run can break.
pub(super) fn is_judged(key: &str) -> bool {
    !NOT_JUDGED.contains(&key)
}

/// Checks one member.
pub(super) fn member(
    key: &str,
    expected: &Value,
    all: &Value,
    world: &World,
    seen: &Seen,
) -> Checked {
    match key {
        "load" => load(expected, world, seen),
        "warnings" => count(expected, seen.warnings().len(), |is, wanted| is == wanted, seen),
        "warnings_min" => count(expected, seen.warnings().len(), |is, wanted| is >= wanted, seen),
        "warnings_max" => count(expected, seen.warnings().len(), |is, wanted| is <= wanted, seen),
        "warnings_contain_all" => contains_all(expected, &seen.warnings().join("\n"), world),
        "warnings_contain_any" => contains_any(expected, &seen.warnings().join("\n"), world),
        "message_contains_all" => contains_all(expected, &seen.messages(), world),
        "message_contains_any" => contains_any(expected, &seen.messages(), world),
        "effective" | "effective_any_of" => effective(expected, world, seen),
        "effective_never" => effective_never(expected, world, seen),
        "server_state" => server_state(expected, world, seen),
        "stage" => stage(expected, seen),
        "offered" => listed(expected, "tools", seen),
        "filtered" => listed(expected, "filtered", seen),
        "model_names" => model_names(expected, seen),
        "model_names_distinct" => model_names_distinct(expected, seen),
        "headers_sent" => headers_sent(expected, world),
        "requests_to" => each(expected, |name, wanted| requests_to(name, wanted, world)),
        "requests_to_ports" => each(expected, |port, wanted| requests_to_port(port, wanted, world)),
        "proxy_sees" => proxy_sees(expected, world),
        "proxy_never_sees" => proxy_never_sees(expected, world),
        "must_not_appear" => must_not_appear(expected, &all["where"], world, seen),
        "curl_text_contains" => {
            let shown = recorded(world)?;
            words(expected)?.into_iter().try_for_each(|word| {
                fail_unless(shown.contains(word), || format!("`{word}` is not in:\n{shown}"))
            })
        }
        "must_not_appear_on_wire" => none_of(expected, &world.fakes.seen(), "is sent"),
        "other_origin_receives_none_of" => other_origin(expected, world),
        "seconds_max" => seconds_max(expected, seen),
        "no_panic" => no_panic(seen),
        "limits" => each(expected, |name, limit| limits(name, limit, seen)),
        _ => Err("the driver does not know what this expects".to_owned()),
    }
}

fn fail_unless(holds: bool, why: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(why()) }
}

fn each(expected: &Value, check: impl Fn(&str, &Value) -> Checked) -> Checked {
    let map = expected.as_object().ok_or("this is no map")?;
    fail_unless(!map.is_empty(), || "this expects nothing".to_owned())?;
    map.iter().try_for_each(|(key, value)| check(key, value).map_err(|why| format!("{key}: {why}")))
}

/// One value, or a list of those that will do.
pub(super) fn any_of(expected: &Value) -> Vec<&Value> {
    expected.as_array().map_or_else(|| vec![expected], |list| list.iter().collect())
}

fn words(expected: &Value) -> Result<Vec<&str>, String> {
    let list = any_of(expected);
    let words = list.iter().map(|word| word.as_str().ok_or_else(|| format!("{word} is no text")));
    words.collect()
}

pub(super) fn no_panic(seen: &Seen) -> Checked {
    seen.panic().map_or(Ok(()), |ran| {
        Err(format!("`{}` panicked or was killed ({:?}): {}", ran.words, ran.code, ran.err))
    })
}

fn load(expected: &Value, world: &World, seen: &Seen) -> Checked {
    let show = &seen.runs[0];
    let is = match show.code {
        Some(0) if world.begins_with_choices() => "hint",
        Some(0) => "ok",
        Some(2) => "exit2",
        code => return Err(format!("it ended with {code:?}: {}", show.err)),
    };
    let allowed = words(expected)?;
    // The first screen is a start too.
    let fits = allowed.contains(&is) || (is == "hint" && allowed == ["ok"]);
    fail_unless(fits, || format!("{is}: {}", show.err))?;
    for ran in &seen.runs {
        let unreadable = ran.code == Some(2);
        fail_unless(unreadable == (is == "exit2"), || {
            format!("`{}` ended with {:?}: {}", ran.words, ran.code, ran.err)
        })?;
        if is == "hint" && ran.words.starts_with("exec") {
            let hints = ran.code == Some(3) && !ran.err.trim().is_empty();
            fail_unless(hints, || format!("`exec` has no hint: {:?} {}", ran.code, ran.err))?;
        }
    }
    Ok(())
}

fn count(expected: &Value, is: usize, fits: impl Fn(u64, u64) -> bool, seen: &Seen) -> Checked {
    let wanted = expected.as_u64().ok_or("this is no number")?;
    fail_unless(fits(is as u64, wanted), || format!("{is}:\n{}", seen.warnings().join("\n")))
}

/// Whether a word is in a text, in any case; a number only as a whole number.
fn has(text: &str, word: &str) -> bool {
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    let number = word.bytes().all(|byte| byte.is_ascii_digit());
    text.match_indices(&word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !number || ![before, after].into_iter().flatten().any(|c| c.is_ascii_digit())
    })
}

fn contains_all(expected: &Value, text: &str, world: &World) -> Checked {
    words(expected)?.into_iter().try_for_each(|word| {
        fail_unless(has(text, &world.here(word)), || format!("`{word}` is not in:\n{text}"))
    })
}

fn contains_any(expected: &Value, text: &str, world: &World) -> Checked {
    let words = words(expected)?;
    let found = words.iter().any(|word| has(text, &world.here(word)));
    fail_unless(found, || format!("none of {words:?} is in:\n{text}"))
}

/// What is in force at a dotted path, in every form that an expectation may have; empty where there
/// is nothing.
fn in_force(path: &str, seen: &Seen) -> Vec<Value> {
    let mut at = &seen.show;
    let mut rest = path;
    if let Some(of_server) = path.strip_prefix("servers.") {
        let servers = || at["mcp"]["servers"].as_array().into_iter().flatten();
        let refused = || at["refused"].as_array().into_iter().flatten();
        // A name may hold dots, and may begin with another one.
        let key_of = |name: &Value| {
            of_server.strip_prefix(name.as_str()?)?.strip_prefix('.').filter(|key| !key.is_empty())
        };
        let mut fitting: Vec<(&str, &Value)> = servers()
            .filter_map(|server| Some((key_of(&server["name"]["value"])?, server)))
            .collect();
        // The shortest key belongs to the longest name.
        fitting.sort_by_key(|(key, _)| key.len());
        match fitting.first() {
            Some((key, server)) => (rest, at) = (*key, *server),
            None if refused().any(|server| key_of(&server["name"]).is_some()) => {
                return vec!["skipped".into()];
            }
            None => return Vec::new(),
        }
    }
    for key in rest.split('.') {
        at = match key.parse::<usize>() {
            Ok(index) if at.is_array() => &at[index],
            _ => &at[key],
        };
    }
    if at.is_null() {
        return Vec::new();
    }
    let Some(value) = at.get("value") else { return vec![plain(at)] };
    let mut forms = vec![value.clone()];
    if at["origin"] == "default" {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        forms.push(format!("{text} (default)").into());
    }
    forms
}

/// Sections and lists without the origins of their values.
fn plain(shown: &Value) -> Value {
    match shown {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => match map.get("value") {
            Some(value) => value.clone(),
            None => map.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
        },
        other => other.clone(),
    }
}

fn effective(expected: &Value, world: &World, seen: &Seen) -> Checked {
    each(expected, |path, wanted| {
        let is = in_force(path, seen);
        // A list can be the value itself, or those that will do.
        let whole = is.iter().any(|is| same(is, wanted, world));
        let one =
            any_of(wanted).into_iter().any(|wanted| is.iter().any(|is| same(is, wanted, world)));
        fail_unless(whole || one, || format!("it is {is:?}, not {wanted}"))
    })
}

fn same(is: &Value, wanted: &Value, world: &World) -> bool {
    match wanted.as_str() {
        Some("*") => !is.is_null() && is != "",
        Some(text) => is.as_str().is_some_and(|is| is == world.here(text)),
        None => is == wanted,
    }
}

fn effective_never(expected: &Value, world: &World, seen: &Seen) -> Checked {
    each(expected, |path, never| {
        let is = in_force(path, seen);
        let found =
            any_of(never).into_iter().any(|never| is.iter().any(|is| same(is, never, world)));
        fail_unless(!found, || format!("it is {is:?}"))
    })
}

fn server_state(expected: &Value, world: &World, seen: &Seen) -> Checked {
    let check = |name: &str, wanted: &Value| {
        let (is, allowed) = (seen.state(name), words(wanted)?);
        let fits = is.iter().any(|word| allowed.contains(&word.as_str()));
        fail_unless(fits, || format!("it is {is:?}, not {allowed:?}\n{}", seen.messages()))
    };
    if expected.is_object() {
        return each(expected, check);
    }
    fail_unless(!world.servers.is_empty(), || "there are no servers".to_owned())?;
    world.servers.keys().try_for_each(|name| check(name, expected))
}

/// The stage at which the servers that failed did so.
fn stage(expected: &Value, seen: &Seen) -> Checked {
    let servers = seen.check["servers"].as_array().cloned().unwrap_or_default();
    let failed: Vec<&str> = servers
        .iter()
        .flat_map(|server| server["stages"].as_array().into_iter().flatten())
        .filter(|stage| stage["outcome"] == "failed")
        .filter_map(|stage| stage["stage"].as_str())
        .collect();
    let allowed = words(expected)?;
    let fits = |stage: &&str| allowed.iter().any(|word| word.eq_ignore_ascii_case(stage));
    fail_unless(!failed.is_empty() && failed.iter().all(fits), || {
        format!("it failed at {failed:?}: {}", seen.check)
    })
}

/// Original names of a server's tools, on offer or not.
fn listed(expected: &Value, list: &str, seen: &Seen) -> Checked {
    each(expected, |server, wanted| {
        let tools = seen.tools[list].as_array().into_iter().flatten();
        let own = tools.filter(|tool| tool["server"] == server);
        let mut is: Vec<&str> = own.filter_map(|tool| tool["name"].as_str()).collect();
        let mut wanted = words(wanted)?;
        is.sort_unstable();
        wanted.sort_unstable();
        fail_unless(is == wanted, || format!("{is:?} instead of {wanted:?}"))
    })
}

fn model_names(expected: &Value, seen: &Seen) -> Checked {
    each(expected, |tool, wanted| {
        let tools = seen.tools["tools"].as_array().into_iter().flatten();
        let named = tools.filter(|known| {
            let (server, name) = (known["server"].as_str(), known["name"].as_str());
            name == Some(tool) || tool.split_once('/') == server.zip(name)
        });
        let is: Vec<&str> = named.filter_map(|tool| tool["modelName"].as_str()).collect();
        let wanted = words(wanted)?;
        let fits = |is: &&str| wanted.iter().any(|wanted| glob(wanted, is));
        fail_unless(!is.is_empty() && is.iter().all(fits), || format!("{is:?}"))
    })
}

/// `*` stands for any run of characters.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            text.char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .any(|at| glob(rest, &text[at..]))
        }),
    }
}

fn model_names_distinct(expected: &Value, seen: &Seen) -> Checked {
    let tools = seen.tools["tools"].as_array().into_iter().flatten();
    let mut names: Vec<&str> = tools.filter_map(|tool| tool["modelName"].as_str()).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    let distinct = names.len() == all && all > 0;
    fail_unless(expected.as_bool() == Some(distinct), || format!("{names:?}"))
}

/// The requests to a server by its name, or to the model.
fn requests_of(name: &str, world: &World) -> Result<Vec<Request>, String> {
    let port = match world.servers.get(name) {
        Some(port) => *port,
        None if name == "model" => world.model,
        None => None,
    };
    let port = port.ok_or_else(|| format!("the driver does not know the address of {name}"))?;
    Ok(world.fakes.seen().into_iter().filter(|request| request.port == port).collect())
}

fn headers_sent(expected: &Value, world: &World) -> Checked {
    each(expected, |name, headers| {
        let requests = requests_of(name, world)?;
        fail_unless(!requests.is_empty(), || "no request came".to_owned())?;
        each(headers, |header, wanted| {
            requests.iter().try_for_each(|request| {
                let is = request.header(header);
                let fits = any_of(wanted).into_iter().any(|wanted| match wanted.as_str() {
                    Some("*") => is.is_some_and(|is| !is.is_empty()),
                    wanted => is == wanted,
                });
                fail_unless(fits, || format!("{is:?} in {} {}", request.method, request.rpc()))
            })
        })
    })
}

/// Several commands are run: a count above none is the least.
fn counted(is: usize, wanted: &Value) -> Checked {
    let fits = match wanted {
        Value::Number(number) if number.as_u64() == Some(0) => is == 0,
        Value::Number(number) => number.as_u64().is_some_and(|wanted| is as u64 >= wanted),
        Value::String(word) if word == "some" || word == "*" => is > 0,
        Value::String(word) if word == "none" => is == 0,
        other => return Err(format!("the driver does not know the count {other}")),
    };
    fail_unless(fits, || format!("{is} requests"))
}

fn requests_to(name: &str, wanted: &Value, world: &World) -> Checked {
    counted(requests_of(name, world)?.len(), wanted)
}

fn requests_to_port(port: &str, wanted: &Value, world: &World) -> Checked {
    let port = port.parse().ok().and_then(|port: u16| world.ports.get(&port));
    let port = port.ok_or("this is no port of the case")?;
    counted(world.fakes.seen().iter().filter(|request| request.port == *port).count(), wanted)
}

fn proxied(world: &World) -> Vec<String> {
    let seen = world.fakes.seen();
    seen.iter().filter_map(Request::proxied).map(str::to_owned).collect()
}

fn proxy_sees(expected: &Value, world: &World) -> Checked {
    let targets = proxied(world);
    words(expected)?.into_iter().try_for_each(|host| {
        let found = targets.iter().any(|target| target.contains(&world.here(host)));
        fail_unless(found, || format!("{host} is not among {targets:?}"))
    })
}

fn proxy_never_sees(expected: &Value, world: &World) -> Checked {
    let targets = proxied(world);
    words(expected)?.into_iter().try_for_each(|host| {
        let found = targets.iter().find(|target| target.contains(&world.here(host)));
        fail_unless(found.is_none(), || format!("{host} is in {found:?}"))
    })
}

fn must_not_appear(expected: &Value, places: &Value, world: &World, seen: &Seen) -> Checked {
    let texts = words(expected)?;
    let all = ["stdout", "stderr", "log file", "session file", "config show"].map(Value::from);
    let places = places.as_array().cloned().unwrap_or_else(|| all.to_vec());
    for place in &places {
        let name = place.as_str().ok_or("a place is no text")?;
        let shown = seen.place(world, name);
        let mut shown =
            shown.ok_or_else(|| format!("the driver does not know the place {name}"))?;
        match name {
            "screen" => shown.push_str(&world.screen()),
            "wire view" | "HAR" | "HAR export" | "curl text" => shown.push_str(&recorded(world)?),
            _ => {}
        }
        if let Some(text) = texts.iter().find(|text| shown.contains(**text)) {
            return Err(format!("{text} is in {name}:\n{shown}"));
        }
    }
    Ok(())
}

/// Everything that the wire view can show, copy and export of a run.
fn recorded(world: &World) -> Result<String, String> {
    let exchanges = super::in_process(super::scenario::exchanges(world))?;
    fail_unless(!exchanges.kept.is_empty(), || "nothing was recorded".to_owned())?;
    Ok(crate::wire::everything(&exchanges))
}

fn none_of(expected: &Value, requests: &[Request], does: &str) -> Checked {
    words(expected)?.into_iter().try_for_each(|text| {
        let found = requests
            .iter()
            .map(Request::whole)
            .find(|whole| whole.to_lowercase().contains(&text.to_lowercase()));
        fail_unless(found.is_none(), || format!("{text} {does}: {found:?}"))
    })
}

fn other_origin(expected: &Value, world: &World) -> Checked {
    fail_unless(!world.others.is_empty(), || "there is no other origin".to_owned())?;
    let mut seen = world.fakes.seen();
    seen.retain(|request| world.others.contains(&request.port));
    none_of(expected, &seen, "arrives")
}

/// Machines are busy: what is meant is that nothing waits for a time-out.
fn seconds_max(expected: &Value, seen: &Seen) -> Checked {
    let limit = expected.as_f64().ok_or("this is no number")?;
    let bound = Duration::from_secs_f64(limit * 5.0 + 4.0);
    let slow = seen.runs.iter().find(|ran| ran.took > bound);
    slow.map_or(Ok(()), |ran| Err(format!("`{}` took {:?}", ran.words, ran.took)))
}

fn limits(name: &str, limit: &Value, seen: &Seen) -> Checked {
    let most = |is: usize| {
        let limit = limit.as_u64().ok_or("this is no number")?;
        fail_unless(is as u64 <= limit, || is.to_string())
    };
    match name {
        "seconds_max" => seconds_max(limit, seen),
        "warnings_max" => most(seen.warnings().len()),
        "warning_chars_max" | "message_chars_max" => {
            most(seen.warnings().iter().map(|text| text.chars().count()).max().unwrap_or(0))
        }
        "stderr_bytes_max" => most(seen.runs.iter().map(|ran| ran.err.len()).max().unwrap_or(0)),
        _ => Err("the driver does not know this limit".to_owned()),
    }
}
