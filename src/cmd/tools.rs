//! `tools`: what was discovered, under which names, with which permission, at what price.

mod explain;
mod pins;

use super::headless::{Headless, interrupted};
use super::launch::Launch;
use super::output::{self, Cell, Mark, Paint};
use super::{Exit, Stop, call, json, resolve};
use crate::cli::{self, Common};
use crate::domain::{Catalog, Interaction, Mode, Server, ServerName, Tool};
use crate::paths::Paths;
use crate::permission::{Listing, Policy};
use crate::runtime::{Setup, assemble};
use crate::store;
use crate::text;

/// Runs the command.
pub async fn run(common: &Common, options: &cli::Tools) -> Result<Exit, Stop> {
    let mut launch = Launch::prepare(common, Interaction::Headless)?;
    let given = options.args.as_deref().map(call::whole).transpose()?;
    let only = options.server.as_deref().map(ServerName::from);
    let remembered = options.pins.then(|| pins::remembered(launch.setup.paths.as_ref()));
    launch.setup.only = only.clone().map(|name| vec![name]);
    let services = launch.accompaniment();
    Launch::accompany(services, async {
        let mut program = Headless::start(&launch);
        known(&program.catalog, only.as_ref())?;
        let settled = tokio::select! {
            () = program.settle(only.as_ref()) => true,
            () = interrupted() => false,
        };
        if let (true, Some(word)) = (settled, &options.accept_pin) {
            let accepted = pins::accept(&mut program, word, options).await;
            program.end().await;
            return accepted;
        }
        let catalog = program.catalog.clone();
        program.end().await;
        if !settled {
            return Ok(Exit::Interrupted);
        }
        if let Some(board) = remembered {
            let shown = pins::Shown::new(&catalog, &board, &launch.setup, only.as_ref());
            output::print(&shown.told(options.json, Paint::for_stdout()))?;
            return Ok(outcome(&catalog, only.as_ref()));
        }
        if let Some(word) = &options.explain {
            let tool = resolve::resolve(&catalog, word)?;
            let mut policy = permissions(&launch.setup);
            policy.learn(catalog.servers.iter().filter_map(Listing::of));
            let explained = explain::explain(&tool, &policy, given.as_ref());
            output::print(&explained.shown(options.json, Paint::for_stdout()))?;
            return Ok(Exit::Done);
        }
        let shown = if options.json {
            for server in chosen(&catalog, only.as_ref()).filter(|server| !server.state.usable()) {
                output::note(
                    text::line(&format!("the server {}", output::stands(server))).as_str(),
                );
            }
            json::line(&json::tools(&catalog, only.as_ref(), options.schemas))
        } else {
            render(&catalog, only.as_ref(), Paint::for_stdout())
        };
        output::print(&shown)?;
        Ok(outcome(&catalog, only.as_ref()))
    })
    .await
}

/// The permissions as they stand at the beginning of a run.
fn permissions(setup: &Setup) -> Policy {
    let remembered = setup.paths.as_ref().map(|paths| store::read_rules(paths).0);
    let remembered = remembered.unwrap_or_default();
    let mut policy = assemble::policy(&setup.config.mcp, &remembered, &setup.extra_rules);
    policy.rules_file = setup.paths.as_ref().map(Paths::rules_file);
    policy
}

/// A server that is asked for by name has to exist.
pub(super) fn known(catalog: &Catalog, only: Option<&ServerName>) -> Result<(), Stop> {
    let Some(name) = only.filter(|name| catalog.server(name).is_none()) else { return Ok(()) };
    let names = || catalog.servers.iter().map(|server| server.name.as_str());
    let near = text::nearest(name.as_str(), names()).map(|near| format!(" Did you mean {near}?"));
    let all = names().collect::<Vec<_>>().join(", ");
    Err(Stop::usage(format!(
        "there is no server {name}.{} Configured: {all}.",
        near.unwrap_or_default()
    )))
}

/// Unavailable: the server that was asked for, or every one of several.
fn outcome(catalog: &Catalog, only: Option<&ServerName>) -> Exit {
    let mut asked = chosen(catalog, only).filter(|server| {
        only.is_some() || !matches!(server.state, crate::domain::ServerState::Disabled { .. })
    });
    let any = asked.clone().next().is_some();
    if any && !asked.any(|server| server.state.usable()) { Exit::NoServer } else { Exit::Done }
}

fn chosen<'a>(
    catalog: &'a Catalog,
    only: Option<&'a ServerName>,
) -> impl Iterator<Item = &'a Server> + Clone {
    catalog.servers.iter().filter(move |server| only.is_none_or(|name| server.name == *name))
}

/// The output for people.
pub fn render(catalog: &Catalog, only: Option<&ServerName>, paint: Paint) -> String {
    let rows: Vec<Vec<Cell>> = chosen(catalog, only)
        .flat_map(|server| server.tools.iter().map(|tool| row(tool)))
        .collect();
    let mut out = String::new();
    if rows.is_empty() {
        out.push_str("No tools.\n");
    } else {
        let heading = ["SERVER", "TOOL", "MODEL NAME", "MAY RUN", "READ-ONLY", "TOKENS", "PIN"];
        out.push_str(&output::table(paint, &heading, &rows));
        let tokens: u64 = chosen(catalog, only)
            .flat_map(|server| &server.tools)
            .map(|tool| u64::from(tool.tokens))
            .sum();
        let count = rows.len();
        let noun = if count == 1 { "tool" } else { "tools" };
        out.push_str(&paint.paint(
            Mark::Faint,
            &format!("{count} {noun}, {tokens} tokens in every request to the model"),
        ));
        out.push('\n');
    }
    for server in chosen(catalog, only) {
        out.push_str(&notes(server, paint));
    }
    if only.is_none() {
        out.extend(catalog.warnings.iter().map(|warning| output::warning(paint, warning)));
    }
    out
}

fn row(tool: &Tool) -> Vec<Cell> {
    let mark = match tool.permission {
        Mode::Auto => Mark::Good,
        Mode::Ask => Mark::Caution,
        Mode::Deny => Mark::Bad,
    };
    let read_only = match tool.definition.annotations.read_only_hint {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not said",
    };
    vec![
        text::strict_line(tool.id.server.as_str()).into(),
        Cell::new(text::strict_line(tool.id.tool.as_str()).into_string(), Mark::Strong),
        text::strict_line(tool.model_name.as_str()).into(),
        Cell::new(tool.permission.word(), mark),
        Cell::plain(read_only),
        Cell::number(tool.tokens.to_string()),
        Cell::plain(json::pin_state(tool.pin_state)),
    ]
}

/// What is odd about a server: its state, tools that are not on offer, warnings.
fn notes(server: &Server, paint: Paint) -> String {
    let mut out = String::new();
    if !server.state.usable() {
        let stop = resolve::unavailable(server);
        let first = stop.message.lines().next().unwrap_or_default();
        out.extend([format!("{}\n", paint.paint(Mark::Bad, text::line(first).as_str()))]);
    }
    for tool in &server.filtered {
        let name = text::strict_line(&format!("{}/{}", server.name, tool.name));
        let reason = text::line(&tool.reason);
        out.extend([format!("{} {name}: {reason}\n", paint.paint(Mark::Caution, "filtered:"))]);
    }
    out.extend(server.warnings.iter().map(|warning| output::warning(paint, warning)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fixtures::{catalog, server};
    use crate::domain::{FilteredTool, ServerState, Stage};

    #[test]
    fn table_shows_names_permission_price_and_what_was_filtered() {
        let mut one = server("bugs", &["get_task", "list_tasks"]);
        one.filtered.push(FilteredTool {
            name: "upload".into(),
            reason: "it wants binary data at /file".to_owned(),
        });
        let shown = render(&catalog(vec![one]), None, Paint::Plain);
        insta::assert_snapshot!(shown, @r"
        SERVER  TOOL        MODEL NAME       MAY RUN  READ-ONLY  TOKENS  PIN
        bugs    get_task    bugs_get_task    ask      yes           100  new
        bugs    list_tasks  bugs_list_tasks  ask      yes           100  new
        2 tools, 200 tokens in every request to the model
        filtered: bugs/upload: it wants binary data at /file
        ");
    }

    #[test]
    fn names_of_tools_cannot_steer_the_terminal() {
        let shown = render(&catalog(vec![server("bugs", &["a\u{1b}[2Jb\nc"])]), None, Paint::Plain);
        assert!(!shown.contains('\u{1b}'));
        assert_eq!(shown.lines().count(), 3, "{shown}");
    }

    #[test]
    fn asked_for_server_that_failed_is_exit_code_4_and_one_of_many_is_not() {
        let mut down = server("down", &[]);
        down.state = ServerState::Failed { stage: Stage::Tcp, reason: "refused".to_owned() };
        let both = catalog(vec![server("up", &["x"]), down]);
        assert_eq!(outcome(&both, None), Exit::Done);
        assert_eq!(outcome(&both, Some(&"down".into())), Exit::NoServer);
        assert_eq!(known(&both, Some(&"dwn".into())).unwrap_err().exit, Exit::Usage);
    }
}
