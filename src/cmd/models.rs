//! `models`: what the model's endpoint offers, and the window of the one that is configured.

use serde_json::{Value, json};

use super::launch::Launch;
use super::output::{self, Cell, Mark, Paint};
use super::{Exit, Stop, json};
use crate::cli::Common;
use crate::domain::Interaction;
use crate::domain::model::{ModelInfo, OfferedModel, ProviderError, ProviderErrorKind};
use crate::provider::http::Provider;
use crate::runtime::spec;
use crate::text;

/// Runs the command.
pub async fn run(common: &Common, as_json: bool) -> Result<Exit, Stop> {
    let mut launch = Launch::prepare(common, Interaction::Headless)?;
    let Some(model) = launch.setup.config.model.clone() else {
        return Err(Stop::new(
            Exit::NoModel,
            "no model is configured. Add `model:` to the config (`mini-me-tui config init` writes a starter file), or use --demo.",
        ));
    };
    let ca = spec::certificates(&launch.setup.config.mcp, &mut launch.setup.warnings);
    let provider = Provider::new(model, ca);
    let services = launch.accompaniment();
    let asked = async { tokio::join!(provider.known(), provider.models()) };
    let (current, models) = Launch::accompany(services, asked).await;
    let models = models.map_err(stop)?;
    let shown = if as_json {
        json::line(&shape(&current, &models))
    } else {
        render(&current, &models, Paint::for_stdout())
    };
    output::print(&shown)?;
    Ok(Exit::Done)
}

fn stop(error: ProviderError) -> Stop {
    let exit = match error.kind {
        ProviderErrorKind::Unreachable => Exit::NoModel,
        _ => Exit::Failed,
    };
    Stop::new(exit, error.message)
}

fn shape(current: &ModelInfo, models: &[OfferedModel]) -> Value {
    let offered = models.iter().map(|model| {
        json!({
            "name": model.name,
            "contextWindow": model.window,
            "current": model.name == current.name,
        })
    });
    json!({
        "endpoint": current.endpoint,
        "current": {
            "name": current.name,
            "contextWindow": current.window,
            "origin": current.origin.word(),
        },
        "models": offered.collect::<Vec<_>>(),
    })
}

fn render(current: &ModelInfo, models: &[OfferedModel], paint: Paint) -> String {
    let name = |raw: &str| text::strict_line(raw).into_string();
    let rows = models.iter().map(|model| {
        let is_current = model.name == current.name;
        let mark = if is_current { Mark::Good } else { Mark::Plain };
        let window = model.window.map(|window| window.to_string()).unwrap_or_default();
        let note = if is_current { "configured" } else { "" };
        vec![Cell::new(name(&model.name), mark), Cell::number(window), Cell::new(note, Mark::Faint)]
    });
    let rows: Vec<_> = rows.collect();
    let mut out = if rows.is_empty() {
        "The endpoint lists no model.\n".to_owned()
    } else {
        output::table(paint, &["MODEL", "WINDOW", ""], &rows)
    };
    if models.iter().all(|model| model.name != current.name) {
        out.extend([format!("\n{} is configured and not in the list.", name(&current.name))]);
    }
    out.extend([format!(
        "\n{} at {}: a window of {} tokens ({}).\n",
        name(&current.name),
        text::line(&current.endpoint),
        current.window,
        current.origin.word(),
    )]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::model::WindowOrigin;

    fn current() -> ModelInfo {
        ModelInfo {
            name: "m".to_owned(),
            endpoint: "http://localhost:1/v1".to_owned(),
            window: 4096,
            origin: WindowOrigin::Asked,
        }
    }

    fn model(name: &str, window: Option<u64>) -> OfferedModel {
        OfferedModel { name: name.to_owned(), window }
    }

    #[test]
    fn the_shape_is_the_documented_one() {
        let models = [model("m", Some(4096)), model("n", None)];
        assert_eq!(
            shape(&current(), &models),
            json!({
                "endpoint": "http://localhost:1/v1",
                "current": {"name": "m", "contextWindow": 4096, "origin": "asked"},
                "models": [
                    {"name": "m", "contextWindow": 4096, "current": true},
                    {"name": "n", "contextWindow": null, "current": false},
                ],
            })
        );
    }

    #[test]
    fn a_model_that_is_not_listed_is_said_to_be_missing() {
        let shown = render(&current(), &[model("n", None)], Paint::Plain);
        assert!(shown.contains("m is configured and not in the list."), "{shown}");
        let shown = render(&current(), &[model("m", Some(4096))], Paint::Plain);
        assert_eq!(
            shown,
            "MODEL  WINDOW\nm        4096  configured\n\nm at http://localhost:1/v1: a window of 4096 tokens (asked).\n"
        );
    }
}
