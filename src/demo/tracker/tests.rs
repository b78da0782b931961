use super::*;

fn tracker() -> Tracker {
    Tracker::load().unwrap()
}

fn ask(tool: &str, arguments: Value) -> Answer {
    tracker().ask(tool, arguments.as_object().unwrap()).unwrap()
}

fn telling_report() -> String {
    let reports = ask("list_reports_for_task", json!({ "task": "#42" })).unwrap();
    reports["reports"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_task_answers_to_its_number_with_and_without_hash_and_to_its_uuid() {
    let one = ask("get_task", json!({ "task": "#42" })).unwrap();
    assert_eq!(one, ask("get_task", json!({ "task": "42" })).unwrap());
    assert_eq!(one, ask("get_task", json!({ "task": 42 })).unwrap());
    assert_eq!(one, ask("get_task", json!({ "task": one["id"] })).unwrap());
    assert!(one["title"].as_str().unwrap().contains("time-outs"));
}

#[test]
fn an_unknown_task_is_an_error_that_says_what_to_call_next() {
    let error = ask("get_task", json!({ "task": "#4711" })).unwrap_err();
    assert!(error.contains("#4711") && error.contains("list_tasks"), "{error}");
}

#[test]
fn a_project_argument_is_refused_and_explained() {
    let error = ask("list_tasks", json!({ "projectId": "x" })).unwrap_err();
    assert!(error.contains("bound to one project"), "{error}");
    for definition in crate::demo::tools::definitions() {
        assert!(!Value::from(definition.schema).to_string().to_lowercase().contains("projectid"));
    }
}

#[test]
fn telemetry_pages_are_in_order_of_time_and_lead_to_the_end() {
    let report = telling_report();
    let mut seen = Vec::new();
    let mut offset = json!(0);
    let mut pages = 0;
    loop {
        let page = ask(
            "get_report_telemetry",
            json!({ "report": report, "kind": "console", "offset": offset }),
        )
        .unwrap();
        pages += 1;
        seen.extend(page["entries"].as_array().unwrap().clone());
        assert_eq!(page["hasMore"], json!(!page["nextOffset"].is_null()));
        if page["hasMore"] == json!(false) {
            assert_eq!(page["total"], json!(seen.len()));
            break;
        }
        offset = page["nextOffset"].clone();
    }
    assert_eq!(pages, 2);
    let times: Vec<&str> = seen.iter().map(|entry| entry["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted());
}

#[test]
fn what_contradicts_the_title_stands_on_the_second_page_only() {
    let report = telling_report();
    let page = |offset: u32| {
        ask(
            "get_report_telemetry",
            json!({ "report": report, "kind": "console", "offset": offset }),
        )
        .unwrap()
        .to_string()
    };
    assert!(!page(0).contains("TypeError"));
    assert!(page(20).contains("formatMoney (src/money/format.ts:48:31)"));
    let network =
        ask("get_report_telemetry", json!({ "report": report, "kind": "network", "limit": 50 }))
            .unwrap()
            .to_string();
    assert!(!network.contains("api.payfair.example"));
}

#[test]
fn a_report_says_exactly_what_was_cut() {
    let report = telling_report();
    let short = ask("get_report", json!({ "report": report })).unwrap();
    let total = short["summary"]["totalCharacters"].as_u64().unwrap();
    assert_eq!(short["summary"]["text"].as_str().unwrap().chars().count(), 400);
    let cut = short["cut"][0].as_str().unwrap();
    assert_eq!(
        cut,
        format!("summary: 400 of {total} characters shown; the rest with summaryLimit {total}")
    );
    let whole = ask("get_report", json!({ "report": report, "summaryLimit": total })).unwrap();
    assert_eq!(whole["summary"]["shownCharacters"], json!(total));
    assert!(!whole["cut"].to_string().contains("summary"));
}

#[test]
fn an_empty_summary_is_said_to_be_empty_and_not_explained_away() {
    let reports = ask("list_reports_for_task", json!({ "task": "42" })).unwrap();
    let empty = reports["reports"].as_array().unwrap().iter().find(|row| row["summary"] == "empty");
    let report = ask("get_report", json!({ "report": empty.unwrap()["id"] })).unwrap();
    assert_eq!(report["summary"]["totalCharacters"], json!(0));
    assert!(report["summary"]["note"].as_str().unwrap().contains("does not mean"));
}

#[test]
fn search_finds_the_line_and_says_where_it_stands() {
    let hits = ask("search_reports", json!({ "query": "formatmoney" })).unwrap();
    assert_eq!(hits["total"], json!(2));
    assert_eq!(hits["matches"][0]["foundIn"], "console");
    let none = ask("search_reports", json!({ "query": "no such thing" })).unwrap();
    assert!(none["note"].is_string());
}

#[test]
fn wrong_values_are_refused_with_what_is_allowed() {
    let report = telling_report();
    for (arguments, told) in [
        (json!({ "report": report }), "kind"),
        (json!({ "report": report, "kind": "logs" }), "console, network, actions"),
        (json!({ "report": report, "kind": "console", "limit": 0 }), "from 1 to 50"),
        (json!({ "report": report, "kind": "console", "offset": -1 }), "whole number"),
        (json!({ "report": report, "kind": "console", "offset": 999 }), "past the end"),
        (json!({ "report": "made-up", "kind": "console" }), "list_reports_for_task"),
        (json!({ "kind": "console" }), "needs `report`"),
    ] {
        let error = ask("get_report_telemetry", arguments).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn every_report_belongs_to_a_task_and_has_ordered_telemetry() {
    let tracker = tracker();
    for report in tracker.reports() {
        assert!(tracker.task(&report.task_number.to_string()).is_ok());
        for kind in KINDS {
            let entries = tracker.entries(report, kind);
            let times: Vec<&str> =
                entries.iter().filter_map(|entry| entry.get("at")?.as_str()).collect();
            assert_eq!(times.len(), entries.len());
            assert!(times.is_sorted(), "{} {kind}", report.id);
        }
    }
}
