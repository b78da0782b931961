use serde_json::json;

use super::*;
use crate::domain::{Annotations, Mode, ModelName, PinState, ToolDefinition, ToolId};

fn tool(server: &str, name: &str, description: &str, schema: &Value) -> Arc<Tool> {
    let definition = ToolDefinition {
        name: name.into(),
        title: None,
        description: description.to_owned(),
        input_schema: Arc::new(schema.clone()),
        output_schema: None,
        annotations: Annotations::default(),
        raw: Arc::new(Value::Null),
    };
    Arc::new(Tool {
        id: ToolId::new(server, name),
        model_name: ModelName::new(format!("{server}_{name}")),
        definition: Arc::new(definition),
        pin: String::new(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission: Mode::Ask,
        disabled: false,
        tokens: 10,
    })
}

fn plain(server: &str, name: &str, description: &str) -> Arc<Tool> {
    tool(server, name, description, &json!({"type": "object"}))
}

fn some() -> Vec<Arc<Tool>> {
    let path = json!({"type": "object", "properties": {"repository": {"type": "string"}}});
    vec![
        plain("github", "create_issue", "Opens a new issue in a repository."),
        plain("github", "listPullRequests", "Pull requests, newest first."),
        tool("github", "read", "Reads a file.", &path),
        plain("files", "read_file", "Reads a file from disk."),
        plain("weather", "forecast", "Tells how hot it gets. No issue with rain."),
    ]
}

fn names(query: &str) -> Vec<String> {
    find(query, &some()).iter().map(|(_, tool)| tool.id.to_string()).collect()
}

#[test]
fn a_word_of_the_name_counts_more_than_one_of_the_description() {
    assert_eq!(names("issue")[0], "github/create_issue");
    assert!(names("issue").contains(&"weather/forecast".to_owned()));
}

#[test]
fn plurals_beginnings_camel_case_and_a_wrong_letter_are_found() {
    assert_eq!(names("pull requests")[0], "github/listPullRequests");
    assert_eq!(names("forecasts")[0], "weather/forecast");
    assert_eq!(names("fore")[0], "weather/forecast");
    assert_eq!(names("forecsat")[0], "weather/forecast");
    assert_eq!(names("foxecsat"), [""; 0]);
}

#[test]
fn parameters_and_servers_are_found_by_name() {
    assert!(names("repository").contains(&"github/read".to_owned()));
    assert_eq!(names("weather"), ["weather/forecast"]);
}

#[test]
fn a_whole_name_comes_first_whatever_else_fits() {
    for name in ["github_read", "github/read", "read", "`github_read`"] {
        assert_eq!(names(name)[0], "github/read", "{name}");
    }
}

#[test]
fn nothing_is_found_where_nothing_fits() {
    assert_eq!(names("quantum chess"), [""; 0]);
    assert_eq!(names("   "), [""; 0]);
    assert_eq!(names("which tool do I use"), [""; 0]);
}

#[test]
fn a_rare_word_decides_between_many() {
    let mut tools: Vec<_> =
        (0..50).map(|n| plain("many", &format!("list_things_{n}"), "Lists things.")).collect();
    tools.push(plain("one", "list_reports", "Lists reports."));
    let found = find("list reports", &tools);
    assert_eq!(found[0].1.id.to_string(), "one/list_reports");
}
