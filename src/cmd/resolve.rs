//! Which tool a word means: `server/tool`, a model name, or an original name that only one server
//! has. Pure.

use std::sync::Arc;

use super::{Exit, Stop, output};
use crate::domain::{Catalog, Server, Tool};
use crate::text;

/// Finds the tool, or says what is wrong with the word and which are near.
pub fn resolve(catalog: &Catalog, word: &str) -> Result<Arc<Tool>, Stop> {
    if let Some(tool) = by_server(catalog, word)? {
        return Ok(tool);
    }
    let by_model_name = || catalog.tools().find(|tool| tool.model_name.as_str() == word);
    let mut by_name = catalog.tools().filter(|tool| tool.id.tool.as_str() == word);
    if let Some(tool) = by_model_name() {
        return Ok(Arc::clone(tool));
    }
    match (by_name.next(), by_name.next()) {
        (Some(tool), None) => Ok(Arc::clone(tool)),
        (Some(_), Some(_)) => Err(ambiguous(catalog, word)),
        (None, _) => Err(unknown(catalog, word)),
    }
}

/// `server/tool`. Both names may hold slashes: every split is tried.
fn by_server(catalog: &Catalog, word: &str) -> Result<Option<Arc<Tool>>, Stop> {
    for (at, _) in word.match_indices('/') {
        let (Some(name), Some(tool)) = (word.get(..at), word.get(at + 1..)) else { continue };
        let Some(server) = catalog.servers.iter().find(|server| server.name.as_str() == name)
        else {
            continue;
        };
        if let Some(found) = server.tools.iter().find(|known| known.id.tool.as_str() == tool) {
            return Ok(Some(Arc::clone(found)));
        }
        if let Some(filtered) = server.filtered.iter().find(|known| known.name.as_str() == tool) {
            return Err(Stop::usage(format!("{word} is not on offer: {}", filtered.reason)));
        }
        if !server.state.usable() {
            return Err(unavailable(server));
        }
        let known = server.tools.iter().map(|known| known.id.tool.as_str());
        return Err(Stop::usage(format!(
            "the server {name} has no tool {tool}.{} `mini-me-tui tools --server {name}` lists them.",
            meant(text::nearest(tool, known).map(|near| format!("{name}/{near}")))
        )));
    }
    Ok(None)
}

/// A server that was needed cannot be used.
pub fn unavailable(server: &Server) -> Stop {
    let stands = output::stands(server);
    Stop::new(
        Exit::NoServer,
        format!("the server {stands}\n`mini-me-tui check` shows at which stage."),
    )
}

fn ambiguous(catalog: &Catalog, word: &str) -> Stop {
    let all: Vec<String> = catalog
        .tools()
        .filter(|tool| tool.id.tool.as_str() == word)
        .map(|tool| tool.id.to_string())
        .collect();
    Stop::usage(format!("several servers have a tool {word}: say which, {}.", all.join(" or ")))
}

fn unknown(catalog: &Catalog, word: &str) -> Stop {
    let down: Vec<&Server> =
        catalog.servers.iter().filter(|server| !server.state.usable()).collect();
    if let ([server], true) = (down.as_slice(), catalog.servers.len() == 1) {
        return unavailable(server);
    }
    let names: Vec<String> = catalog.tools().map(|tool| tool.id.to_string()).collect();
    let words = catalog.tools().flat_map(|tool| [tool.id.tool.as_str(), tool.model_name.as_str()]);
    let near =
        text::nearest(word, words.chain(names.iter().map(String::as_str))).map(str::to_owned);
    let down = match down.as_slice() {
        [] => String::new(),
        down => {
            let list: Vec<String> = down
                .iter()
                .map(|server| format!("{} ({})", server.name, server.state.word()))
                .collect();
            format!(" Not asked, because they are not usable: {}.", list.join(", "))
        }
    };
    Stop::usage(format!(
        "there is no tool {word}.{} `mini-me-tui tools` lists all.{down}",
        meant(near)
    ))
}

fn meant(near: Option<String>) -> String {
    near.map_or_else(String::new, |near| format!(" Did you mean {near}?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fixtures::{catalog, server};
    use crate::domain::{FilteredTool, ServerState, Stage};

    fn two() -> Catalog {
        let mut bugs = server("bugs", &["get_task", "a/b"]);
        let filtered = FilteredTool { name: "upload".into(), reason: "wants bytes".to_owned() };
        bugs.filtered.push(filtered);
        catalog(vec![bugs, server("docs", &["get_page", "echo"]), server("more/x", &["echo"])])
    }

    fn found(word: &str) -> String {
        resolve(&two(), word).unwrap().id.to_string()
    }

    #[test]
    fn a_tool_is_found_by_identity_model_name_and_a_name_of_its_own() {
        assert_eq!(found("bugs/get_task"), "bugs/get_task");
        assert_eq!(found("bugs_get_task"), "bugs/get_task");
        assert_eq!(found("get_page"), "docs/get_page");
    }

    #[test]
    fn slashes_in_both_names_are_no_hindrance() {
        assert_eq!(found("bugs/a/b"), "bugs/a/b");
        assert_eq!(found("a/b"), "bugs/a/b");
        assert_eq!(found("more/x/echo"), "more/x/echo");
    }

    #[test]
    fn a_name_that_several_servers_have_is_not_guessed() {
        let stop = resolve(&two(), "echo").unwrap_err();
        assert_eq!(stop.exit, Exit::Usage);
        assert!(stop.message.contains("docs/echo or more/x/echo"), "{stop}");
    }

    #[test]
    fn a_filtered_tool_and_a_misspelt_one_say_so() {
        assert!(resolve(&two(), "bugs/upload").unwrap_err().message.contains("wants bytes"));
        let stop = resolve(&two(), "bugs/get_tsk").unwrap_err();
        assert!(stop.message.contains("Did you mean bugs/get_task?"), "{stop}");
        assert_eq!(resolve(&two(), "nothing_like_it").unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn a_server_that_is_down_is_not_a_tool_that_is_missing() {
        let mut down = server("bugs", &[]);
        down.state = ServerState::Failed { stage: Stage::Tcp, reason: "refused".to_owned() };
        for word in ["bugs/get_task", "get_task"] {
            let stop = resolve(&catalog(vec![down.clone()]), word).unwrap_err();
            assert_eq!(stop.exit, Exit::NoServer);
            assert!(stop.message.contains("refused"), "{stop}");
        }
    }
}
