//! Choosing the model that answers: what the endpoint offers, filtered as one types.

use crate::domain::model::OfferedModel;

/// What is known of the endpoint's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// It is asked.
    Waiting,
    /// These.
    Known(Vec<OfferedModel>),
    /// There is no list, and why; raw.
    Failed(String),
}

/// The open list.
#[derive(Debug)]
pub struct Models {
    /// What was typed.
    pub filter: String,
    /// Which of the matches is chosen.
    pub selected: usize,
    /// The model that answers now; raw.
    pub current: String,
    /// The list.
    pub listed: Listed,
}

impl Models {
    /// A list that is asked for.
    pub fn new(current: &str) -> Self {
        Self {
            filter: String::new(),
            selected: 0,
            current: current.to_owned(),
            listed: Listed::Waiting,
        }
    }

    /// The list came, or it did not. The model that answers now is chosen, unless something was
    /// typed meanwhile.
    pub fn take(&mut self, listed: &Result<Vec<OfferedModel>, String>) {
        self.listed = match listed {
            Ok(models) => Listed::Known(models.clone()),
            Err(why) => Listed::Failed(why.clone()),
        };
        let matches = self.matches();
        let at = matches.iter().position(|model| model.name == self.current);
        self.selected = at.filter(|_| self.filter.is_empty()).unwrap_or(0);
    }

    /// The models that hold every typed word.
    pub fn matches(&self) -> Vec<&OfferedModel> {
        let Listed::Known(models) = &self.listed else { return Vec::new() };
        let filter = self.filter.to_lowercase();
        let fits = |model: &&OfferedModel| {
            let name = model.name.to_lowercase();
            filter.split_whitespace().all(|word| name.contains(word))
        };
        models.iter().filter(fits).collect()
    }

    /// The chosen model. A name that no list holds is taken as it was typed: endpoints know more
    /// names than they list.
    pub fn chosen(&self) -> Option<String> {
        if let Some(model) = self.matches().get(self.selected) {
            return Some(model.name.clone());
        }
        let typed = self.filter.trim();
        (!typed.is_empty()).then(|| typed.to_owned())
    }

    /// Moves the choice, staying inside.
    pub fn go(&mut self, by: isize) {
        let last = self.matches().len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    /// Something was typed.
    pub fn typed(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.filter);
        self.selected = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(names: &[&str]) -> Vec<OfferedModel> {
        let model = |name: &&str| OfferedModel { name: (*name).to_owned(), window: None };
        names.iter().map(model).collect()
    }

    #[test]
    fn the_model_that_answers_is_chosen_first_and_every_typed_word_counts() {
        let mut models = Models::new("ai/qwen3");
        assert_eq!(models.chosen(), None);
        models.take(&Ok(offered(&["ai/gemma3", "ai/qwen3", "ai/qwen2.5-coder"])));
        assert_eq!(models.chosen().as_deref(), Some("ai/qwen3"));
        models.typed(|filter| filter.push_str("coder qwen"));
        assert_eq!(models.chosen().as_deref(), Some("ai/qwen2.5-coder"));
    }

    #[test]
    fn a_name_that_is_not_listed_is_taken_as_typed() {
        let mut models = Models::new("m");
        models.take(&Err("no list".to_owned()));
        assert_eq!(models.chosen(), None);
        models.typed(|filter| filter.push_str(" other-model "));
        assert_eq!(models.chosen().as_deref(), Some("other-model"));
    }
}
