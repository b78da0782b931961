//! Notices a model that goes in circles.

use std::sync::Arc;

use crate::domain::{ModelName, Outcome};

/// How often the last call was made in a row with the same arguments and the same outcome.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    last: Option<(ModelName, String, Arc<Outcome>)>,
    times: u32,
}

impl Repeats {
    /// Counts one more call; returns how often in a row it was this one.
    pub(super) fn count(
        &mut self,
        name: &ModelName,
        arguments: &str,
        outcome: &Arc<Outcome>,
    ) -> u32 {
        let same = self.last.as_ref().is_some_and(|(last_name, last_arguments, last_outcome)| {
            last_name == name && last_arguments == arguments && last_outcome == outcome
        });
        if same {
            self.times = self.times.saturating_add(1);
        } else {
            self.last = Some((name.clone(), arguments.to_owned(), Arc::clone(outcome)));
            self.times = 1;
        }
        self.times
    }

    /// Starts counting anew.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}
