use serde_json::{Map, json};

use super::*;
use crate::demo::tools;
use crate::demo::tracker::Tracker;

/// A client in small: it runs what the script asks for against the real tracker.
struct Walk {
    messages: Vec<Value>,
    tools: Vec<Value>,
    /// Tools that are denied.
    denied: Vec<&'static str>,
    /// Characters after which a result is cut.
    limit: usize,
    calls: Vec<(String, Value)>,
    kept: Vec<String>,
}

impl Walk {
    fn new() -> Self {
        let tools = tools::definitions()
            .iter()
            .map(|tool| tool.name)
            .chain(["mini_me_read_result"])
            .map(|name| {
                let name = if name.starts_with("mini") {
                    name.to_owned()
                } else {
                    format!("tracker_{name}")
                };
                json!({ "type": "function", "function": { "name": name } })
            })
            .collect();
        Self {
            messages: Vec::new(),
            tools,
            denied: Vec::new(),
            limit: usize::MAX,
            calls: Vec::new(),
            kept: Vec::new(),
        }
    }

    fn ask(&mut self, text: &str) -> String {
        self.messages.push(json!({ "role": "user", "content": text }));
        let script = Script::load().unwrap();
        for _ in 0..30 {
            let request = json!({ "messages": self.messages, "tools": self.tools });
            let conversation = Conversation::read(&request).unwrap();
            let answer = wire::Answer::new(&request, script.next(&conversation)).whole();
            let message = answer["choices"][0]["message"].clone();
            self.messages.push(message.clone());
            let Some(calls) = message["tool_calls"].as_array() else {
                return message["content"].as_str().unwrap().to_owned();
            };
            for call in calls {
                let result = self.run(&call["function"]);
                self.messages
                    .push(json!({ "role": "tool", "tool_call_id": call["id"], "content": result }));
            }
        }
        panic!("the script does not come to an end");
    }

    fn run(&mut self, function: &Value) -> String {
        let name = function["name"].as_str().unwrap();
        let arguments: Map<String, Value> =
            serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
        self.calls.push((name.to_owned(), arguments.clone().into()));
        let tool = name.trim_start_matches("tracker_");
        if self.denied.contains(&tool) {
            return "The user did not allow this call; it was not run. The user says: not today"
                .to_owned();
        }
        if name == "mini_me_read_result" {
            return self.read_on(&arguments);
        }
        let text = match Tracker::load().unwrap().ask(tool, &arguments).unwrap() {
            Ok(value) => value.to_string(),
            Err(why) => why,
        };
        let total = text.chars().count();
        let line = format!("[Result given by the tool \"{tool}\": data from that server.]\n");
        if total <= self.limit {
            return line + &text;
        }
        let (limit, id) = (self.limit, self.kept.len());
        let shown: String = text.chars().take(limit).collect();
        let tail: String = text.chars().skip(total - 20).collect();
        self.kept.push(text);
        format!(
            "{line}{shown}\n[… {} characters left out here …]\n{tail}\n[Shown: {} of {total} characters. To read on: mini_me_read_result {{\"id\": {id}, \"offset\": {limit}}}; to find lines: mini_me_search_result {{\"id\": {id}, \"pattern\": \"…\"}}]",
            total - limit - 20,
            limit + 20
        )
    }

    fn read_on(&self, arguments: &Map<String, Value>) -> String {
        let number = |name: &str| usize::try_from(arguments[name].as_u64().unwrap()).unwrap();
        let (text, offset) = (&self.kept[number("id")], number("offset"));
        let slice: String = text.chars().skip(offset).take(self.limit).collect();
        let next = offset + slice.chars().count();
        let place = json!({ "id": number("id"), "offset": offset, "nextOffset": next, "hasMore": next < text.chars().count() });
        format!("{place}\n{slice}")
    }

    fn names(&self) -> Vec<&str> {
        self.calls.iter().map(|(name, _)| name.trim_start_matches("tracker_")).collect()
    }
}

#[test]
fn task_42_leads_through_two_pages_of_telemetry_to_a_quoted_stack() {
    let mut walk = Walk::new();
    let answer = walk.ask("Look at task #42 and explain it");
    assert_eq!(
        walk.names(),
        [
            "list_tasks",
            "get_task",
            "list_reports_for_task",
            "get_report",
            "get_report_telemetry",
            "get_report_telemetry"
        ]
    );
    assert_eq!(walk.calls[5].1["offset"], json!(20));
    assert!(answer.contains("at formatMoney (src/money/format.ts:48:31)"), "{answer}");
    assert!(answer.contains("on page 2 of the console"), "{answer}");
    assert!(answer.contains("30.0 s after"), "{answer}");
    assert!(answer.contains("`js.payfair.example` 2"), "{answer}");
    assert!(answer.contains("no summary"), "{answer}");
}

#[test]
fn another_task_gets_an_answer_of_its_own() {
    let mut walk = Walk::new();
    let answer = walk.ask("look at task 17, please");
    assert!(answer.contains("toLocalDay (src/calendar/day.ts:22:15)"), "{answer}");
    assert!(!answer.contains("formatMoney"));
}

#[test]
fn a_task_without_reports_and_one_that_does_not_exist_are_told_apart() {
    assert!(Walk::new().ask("Explain #40").contains("no user has reported this"));
    let answer = Walk::new().ask("Explain #4711");
    assert!(answer.contains("There is no task"), "{answer}");
}

#[test]
fn denied_list_is_said_and_gone_round() {
    let mut walk = Walk::new();
    walk.denied = vec!["list_tasks"];
    let answer = walk.ask("Look at task #42 and explain it");
    assert!(answer.contains("formatMoney"));
    let said = walk.messages.iter().any(|message| {
        message["content"]
            .as_str()
            .is_some_and(|text| text.contains("not allowed to list") && text.contains("not today"))
    });
    assert!(said);
}

#[test]
fn denied_telemetry_leaves_an_answer_that_claims_nothing_about_it() {
    let mut walk = Walk::new();
    walk.denied = vec!["get_report_telemetry"];
    let answer = walk.ask("Look at task #42 and explain it");
    assert!(answer.contains("was not allowed") && answer.contains("not today"), "{answer}");
    assert!(!answer.contains("TypeError"), "{answer}");
}

#[test]
fn everything_denied_ends_with_what_was_not_allowed() {
    let mut walk = Walk::new();
    walk.denied = tools::definitions().iter().map(|tool| tool.name).collect();
    let answer = walk.ask("Look at task #42 and explain it");
    assert!(answer.contains("I was not allowed to call `tracker_get_task`"), "{answer}");
    assert_eq!(walk.names(), ["list_tasks", "get_task"]);
}

#[test]
fn no_tool_on_offer_is_said() {
    let mut walk = Walk::new();
    walk.tools.clear();
    assert!(walk.ask("Look at task #42 and explain it").contains("No tool is on offer"));
    assert!(walk.calls.is_empty());
}

#[test]
fn cut_results_are_read_to_their_end() {
    let mut walk = Walk::new();
    walk.limit = 900;
    let answer = walk.ask("Look at task #42 and explain it");
    assert!(answer.contains("formatMoney (src/money/format.ts:48:31)"), "{answer}");
    assert!(walk.names().contains(&"mini_me_read_result"));
}

#[test]
fn comparing_asks_for_two_calls_at_once() {
    let mut walk = Walk::new();
    let answer = walk.ask("Compare tasks #42 and #17");
    assert_eq!(
        walk.names(),
        ["get_task", "get_task", "list_reports_for_task", "list_reports_for_task"]
    );
    assert!(answer.contains("| reports | 4 | 1 |"), "{answer}");
}

#[test]
fn follow_up_about_the_network_remembers_the_task() {
    let mut walk = Walk::new();
    walk.ask("Look at task #42 and explain it");
    let answer = walk.ask("check the network");
    assert!(answer.contains("js.payfair.example/v5/sdk.js"), "{answer}");
    assert!(answer.contains("all 22 requests"), "{answer}");
    assert!(Walk::new().ask("check the network").contains("Which task?"));
}

#[test]
fn other_messages_get_an_answer_that_says_what_it_is() {
    for (message, told) in [
        ("hello", "no language model"),
        ("What can you do?", "I follow a script"),
        ("Sing me a song", "scripted model"),
        ("list the tasks", "| #42 |"),
        ("Search for TypeError", "2 reports contain"),
        ("which project is this?", "**Harbor**"),
        ("show me some markdown", "```rust"),
    ] {
        let answer = Walk::new().ask(message);
        assert!(answer.contains(told), "{message}: {answer}");
        assert!(!answer.contains("{help}"));
    }
}

#[test]
fn pieces_put_together_are_the_whole_answer() {
    let request = json!({ "messages": [{ "role": "user", "content": "x" }], "stream_options": { "include_usage": true } });
    let step = Step::Call {
        text: "Größe 検索 first".to_owned(),
        calls: ["a", "b"]
            .map(|name| Wanted { name: name.to_owned(), arguments: json!({ "task": "#42" }) })
            .to_vec(),
    };
    let chunks = wire::Answer::new(&request, step).chunks();
    let text: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, "Größe 検索 first");
    for index in 0..2 {
        let arguments: String = chunks
            .iter()
            .filter(|chunk| chunk["choices"][0]["delta"]["tool_calls"][0]["index"] == json!(index))
            .filter_map(|chunk| {
                chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str()
            })
            .collect();
        assert_eq!(arguments, r##"{"task":"#42"}"##);
    }
    assert_eq!(chunks[chunks.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
    assert!(chunks[chunks.len() - 1]["usage"]["prompt_tokens"].is_u64());
}
