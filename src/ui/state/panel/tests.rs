use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::domain::{
    Annotations, Mode, ModelName, PinState, ServerState, Tool, ToolDefinition, ToolId,
};

fn tool(server: &str, name: &str) -> Arc<Tool> {
    Arc::new(Tool {
        id: ToolId::new(server, name),
        model_name: ModelName::new(format!("{server}_{name}")),
        definition: Arc::new(ToolDefinition {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: Arc::new(json!({})),
            output_schema: None,
            annotations: Annotations::default(),
            raw: Arc::new(json!({})),
        }),
        pin: String::new(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission: Mode::Ask,
        disabled: false,
        tokens: 0,
    })
}

fn server(name: &str, tools: &[&str]) -> Server {
    Server {
        name: name.into(),
        url: String::new(),
        host: String::new(),
        state: ServerState::Ready,
        connection: None,
        permission: Mode::Ask,
        tools: tools.iter().map(|tool| self::tool(name, tool)).collect(),
        filtered: Vec::new(),
        warnings: Vec::new(),
        latency: Vec::new(),
    }
}

fn catalog() -> Catalog {
    let servers = vec![server("a", &["get", "list"]), server("b", &["get", "put"])];
    Catalog::new(servers, Vec::new(), 1)
}

fn panel(catalog: &Catalog, filter: &str) -> Panel {
    let mut panel = Panel { filter: filter.to_owned(), height: 100, ..Panel::default() };
    panel.refresh(catalog);
    panel
}

#[test]
fn a_filter_keeps_matching_tools_under_their_server() {
    let catalog = catalog();
    let rows = [Row::Server(1), Row::Facts(1), Row::Tool(1, 1)];
    assert_eq!(panel(&catalog, "PUT").rows(), rows);
    assert_eq!(panel(&catalog, "nowhere").rows(), []);
    assert_eq!(panel(&catalog, "a_").rows().len(), 4);
}

#[test]
fn selection_skips_rows_that_are_only_read_and_stays_inside() {
    let catalog = catalog();
    let mut panel = panel(&catalog, "");
    panel.go(1);
    assert_eq!(panel.target(&catalog), Some(Target::Tool(ToolId::new("a", "get"))));
    panel.go(-5);
    assert_eq!(panel.target(&catalog), Some(Target::Server("a".into())));
    panel.go(isize::MAX);
    assert_eq!(panel.target(&catalog), Some(Target::Tool(ToolId::new("b", "put"))));
}

#[test]
fn selection_stays_on_its_tool_when_the_catalog_changes() {
    let before = catalog();
    let mut panel = panel(&before, "");
    panel.go(isize::MAX);
    let servers = vec![server("b", &["new", "put"]), server("a", &["get", "list"])];
    let now = Catalog::new(servers, Vec::new(), 2);
    panel.replaced(&before, &now);
    assert_eq!(panel.target(&now), Some(Target::Tool(ToolId::new("b", "put"))));
}

#[test]
fn a_folded_server_hides_its_tools_until_one_filters() {
    let catalog = catalog();
    let mut panel = panel(&catalog, "");
    panel.folded.insert("a".into());
    panel.refresh(&catalog);
    assert!(!panel.rows().contains(&Row::Tool(0, 0)));
    panel.filter = "list".to_owned();
    panel.refresh(&catalog);
    assert!(panel.rows().contains(&Row::Tool(0, 1)));
}

#[test]
fn the_selection_can_always_be_seen() {
    let catalog = catalog();
    let mut panel = panel(&catalog, "");
    panel.height = 3;
    for _ in 0..10 {
        panel.go(1);
        assert!((panel.scroll..panel.scroll + 3).contains(&panel.selected));
    }
}

#[test]
fn an_empty_catalog_has_nothing_to_select() {
    let catalog = Catalog::default();
    let mut panel = panel(&catalog, "x");
    panel.go(1);
    panel.click(4);
    assert_eq!(panel.target(&catalog), None);
}
