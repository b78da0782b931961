//! Configs, credentials and permissions: every case of type `config`, by the built binary where
//! commands can tell, and in process where a person has to answer.
//!
//! The driver reads what a case expects and knows none by name. What it does not understand, and a
//! case that expects nothing, fails.

use std::sync::Mutex;

use serde_json::{Map, Value};

use super::{Case, not_yet, of_kind, report};

mod answers;
mod checks;
mod ports;
mod scenario;
mod seen;
mod world;

use seen::Seen;
use world::World;

/// Cases that run at the same time: they wait more than they work.
const AT_ONCE: usize = 4;

#[test]
fn every_config_does_what_it_should() {
    let not_yet = not_yet();
    let all = of_kind("config");
    let count = all.len();
    let waiting = Mutex::new(all.into_iter());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(case) = waiting.lock().unwrap().next() else { return };
                    if not_yet.contains(&case.id) {
                        continue;
                    }
                    if let Err(why) = judge(&case) {
                        failed.lock().unwrap().push(format!("{}: {why}", case.id));
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort();
    report("config", count, &failed);
}

fn judge(case: &Case) -> Result<(), String> {
    let yaml = std::fs::read(&case.input).map_err(|error| error.to_string())?;
    let expected = case.expected.as_object().ok_or("the expected file is no map")?;
    let Some(variants) = expected.get("variants") else { return way(&yaml, expected) };
    let variants = variants.as_array().filter(|list| !list.is_empty()).ok_or("no variants")?;
    for variant in variants {
        let mut own = expected.clone();
        own.remove("variants");
        own.extend(variant.as_object().ok_or("a variant is no map")?.clone());
        way(&yaml, &own).map_err(|why| format!("variant {variant}: {why}"))?;
    }
    Ok(())
}

/// One way out of several, where a case has `either`.
fn way(yaml: &[u8], expected: &Map<String, Value>) -> Result<(), String> {
    let Some(ways) = expected.get("either") else { return run(yaml, expected) };
    let mut faults = Vec::new();
    for way in ways.as_array().ok_or("`either` is no list")? {
        let mut own = expected.clone();
        own.retain(|key, value| key != "either" && value != "either");
        own.extend(way.as_object().ok_or("a way is no map")?.clone());
        match run(yaml, &own) {
            Ok(()) => return Ok(()),
            Err(why) => faults.push(why),
        }
    }
    Err(faults.join("\nor "))
}

fn run(yaml: &[u8], expected: &Map<String, Value>) -> Result<(), String> {
    let steps = expected.get("scenario");
    if steps.is_none() && !expected.keys().any(|key| checks::is_judged(key)) {
        return Err("it expects nothing".to_owned());
    }
    let all = Value::Object(expected.clone());
    match expected.get("faults") {
        None => observe(&World::new(yaml, &all)?, &all)?,
        Some(faults) => {
            for fault in faults.as_array().ok_or("`faults` is no list")? {
                let fault = fault.as_str().ok_or("a fault is no word")?;
                let world = World::with_fault(yaml, &all, Some(fault))?;
                observe(&world, &all).map_err(|why| format!("fault {fault}: {why}"))?;
            }
        }
    }
    let Some(steps) = steps else { return Ok(()) };
    let steps = steps.as_array().ok_or("`scenario` is no list")?;
    let world = World::new(yaml, &all)?;
    in_process(scenario::play(&world, steps))
}

/// Runs the commands and checks every member.
fn observe(world: &World, all: &Value) -> Result<(), String> {
    let seen = Seen::of(world, all);
    checks::no_panic(&seen)?;
    let not_yet = not_yet();
    for (key, value) in all.as_object().unwrap() {
        if checks::is_judged(key) && !not_yet.contains(key) {
            let checked = checks::member(key, value, all, world, &seen);
            checked.map_err(|why| format!("{key}: {why}"))?;
        }
    }
    Ok(())
}

/// Runs something of the program itself in a runtime of its own.
fn in_process<T>(what: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(what)
}
