//! Which model answers: what is known of it, and the change to another.

use std::sync::Arc;

use super::conductor::{Conductor, until};
use super::work;
use crate::agent::Event;
use crate::bridge::Notice;
use crate::domain::model::WindowOrigin;
use crate::domain::{Source, Warning};
use crate::net::is_this_machine;
use crate::provider::http::Provider;

/// What is said where no endpoint is configured.
const NO_ENDPOINT: &str = "No model endpoint is configured: write a `model:` section \
                           (`mini-me-tui config init` makes a file to begin with).";

impl Conductor {
    /// Tells the face which model answers.
    pub(super) fn show_model(&mut self, switched: bool) {
        let Some(provider) = &self.provider else { return };
        let model = provider.info();
        self.outbox.push(Notice::ModelChanged { model, switched });
    }

    /// Asks the endpoint for the model's window, in the background, unless it is known or asked for
    /// already.
    pub(super) fn ask_window(&mut self) {
        if self.provider.is_some() && self.held.ask() {
            self.ask_endpoint();
        }
    }

    fn ask_endpoint(&mut self) {
        let Some(provider) = self.provider.clone() else { return };
        let asking = work::ask_window(provider, self.inside.clone());
        self.tasks.spawn("asking for the window", until(self.tasks.quit().clone(), asking));
    }

    /// Asks once more after the first turn: a server at home knows only then with what window it
    /// loaded the model.
    pub(super) fn confirm_window(&mut self) {
        let asked = self.provider.as_ref().is_some_and(|provider| {
            let config = provider.config();
            config.context_window.is_none() && is_this_machine(&config.base_url)
        });
        if asked && !std::mem::replace(&mut self.window_confirmed, true) {
            self.ask_endpoint();
        }
    }

    /// Takes in what the endpoint said of a model, unless another one answers by now. Where it says
    /// nothing, what is usual is assumed.
    pub(super) fn heard_window(&mut self, of: &str, told: Option<u64>) {
        let Some(provider) = self.provider.as_ref().filter(|it| it.config().name == of) else {
            return;
        };
        let mut model = provider.info();
        if let Some(window) = told {
            (model.window, model.origin) = (window, WindowOrigin::Asked);
        }
        // A second answer that says nothing takes nothing back.
        if told.is_some() || !self.window_confirmed {
            let window = model.window;
            self.outbox.push(Notice::ModelChanged { model, switched: false });
            let effects = self.agent.set_window(Some(window));
            self.perform_all(effects);
        }
        self.let_held_go();
    }

    /// What waited for the window may go.
    fn let_held_go(&mut self) {
        let texts = self.held.settle();
        if !texts.is_empty() {
            self.tell_held();
        }
        for text in texts {
            self.drive(Event::Submitted { text });
        }
    }

    /// Asks the endpoint for its models, in the background.
    pub(super) fn list_models(&mut self) {
        let Some(provider) = self.provider.clone() else {
            let models = Arc::new(Err(NO_ENDPOINT.to_owned()));
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
        // Back to the one that the file describes, with all that it says of it.
        let configured = self.configured.as_ref().filter(|it| it.config().name == name);
        let provider = configured.map_or_else(|| provider.with_model(&name), Provider::clone);
        let info = provider.info();
        self.provider = Some(provider);
        self.window_confirmed = false;
        self.records.model_changed(&name);
        self.show_model(true);
        let effects = self.agent.set_window(Some(info.window));
        self.perform_all(effects);
        match info.origin {
            WindowOrigin::Configured => self.let_held_go(),
            WindowOrigin::Asked | WindowOrigin::Assumed => self.ask_endpoint(),
        }
    }
}
