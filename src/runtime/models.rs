//! Which model answers: what is known of it, and the change to another.

use super::conductor::{Conductor, until};
use super::work;
use crate::bridge::Notice;
use crate::domain::model::WindowOrigin;
use crate::domain::{Source, Warning};
use crate::net::is_this_machine;

/// What is said where no endpoint is configured.
const NO_ENDPOINT: &str = "No model endpoint is configured: write a `model:` section \
                           (`mini-me-tui config init` makes a file to begin with).";

/// How often the endpoint was asked for the window of the model that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowAsked {
    /// Not yet.
    Never,
    /// Before anything was said to it.
    Early,
    /// Once more, of a model that is loaded.
    Confirmed,
}

impl Conductor {
    /// Tells the face which model answers.
    pub(super) fn show_model(&mut self, switched: bool) {
        let Some(provider) = &self.provider else { return };
        let model = provider.info();
        self.outbox.push(Notice::ModelChanged { model, switched });
    }

    /// Asks the endpoint for the model's window, in the background.
    pub(super) fn ask_window(&mut self) {
        let Some(provider) = &self.provider else { return };
        if self.window == WindowAsked::Never {
            self.window = WindowAsked::Early;
        }
        if provider.config().context_window.is_some() {
            return;
        }
        let asking = work::ask_window(provider.clone(), self.inside.clone());
        self.tasks.spawn("asking for the window", until(self.tasks.quit().clone(), asking));
    }

    /// Asks once more after the first turn: a server at home knows only then with what window it
    /// loaded the model.
    pub(super) fn confirm_window(&mut self) {
        let near = self.provider.as_ref().is_some_and(|it| is_this_machine(&it.config().base_url));
        if near && self.window != WindowAsked::Confirmed {
            self.window = WindowAsked::Confirmed;
            self.ask_window();
        }
    }

    /// Takes in what the endpoint said of a model, unless another one answers by now.
    pub(super) fn learn_window(&mut self, of: &str, window: u64) {
        let Some(provider) = self.provider.as_ref().filter(|it| it.config().name == of) else {
            return;
        };
        let mut model = provider.info();
        model.window = window;
        model.origin = WindowOrigin::Asked;
        self.outbox.push(Notice::ModelChanged { model, switched: false });
        let effects = self.agent.set_window(Some(window));
        self.perform_all(effects);
    }

    /// Asks the endpoint for its models, in the background.
    pub(super) fn list_models(&mut self) {
        let Some(provider) = self.provider.clone() else {
            let models = std::sync::Arc::new(Err(NO_ENDPOINT.to_owned()));
            return self.outbox.push(Notice::ModelsListed { models });
        };
        let asking = work::list_models(provider, self.inside.clone());
        self.tasks.spawn("asking for the models", until(self.tasks.quit().clone(), asking));
    }

    /// Lets another model answer. A turn keeps its own to the end: what it was told belongs to it.
    pub(super) fn switch_model(&mut self, name: String) {
        let Some(provider) = &self.provider else {
            let advice = "The demo needs none: `mini-me-tui --demo`.";
            return self.warn(Warning::new(Source::Model, NO_ENDPOINT, advice));
        };
        if self.turning {
            self.next_model = Some(name.clone());
            return self.outbox.push(Notice::ModelWaits { name });
        }
        if name.trim().is_empty() || provider.config().name == name {
            return self.show_model(false);
        }
        let provider = self.configured.as_ref().filter(|it| it.config().name == name).map_or_else(
            || provider.with_model(&name),
            // Back to the one that the file describes, with all that it says.
            Clone::clone,
        );
        let window = provider.info().window;
        self.provider = Some(provider);
        self.window = WindowAsked::Never;
        self.records.model_changed(&name);
        self.show_model(true);
        let effects = self.agent.set_window(Some(window));
        self.perform_all(effects);
        self.ask_window();
    }
}
