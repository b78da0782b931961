//! Lists other than that of the tools: resources, templates, prompts. An item that cannot be used
//! is passed over alone, with a remark; what was read before a limit stays.

use std::collections::HashSet;

use serde_json::Value;

use super::result::text;
use super::tool::{LIST_LIMIT, weight};
use crate::domain::{Listing, Prompt, PromptArgument, Resource, ResourceTemplate};

/// Most items that are kept of one list.
pub const ITEM_LIMIT: usize = 10_000;
/// Remarks on single items that are kept.
const REMARKS: usize = 20;
/// Arguments of one prompt that are kept.
const ARGUMENTS: usize = 200;

/// What a list is made of.
pub trait Item: Sized {
    /// The method that lists them.
    const METHOD: &'static str;
    /// Where they stand in the result.
    const KEY: &'static str;
    /// What they are called, in the plural.
    const NOUN: &'static str;

    /// Reads one; `None` where what it cannot do without is missing.
    fn read(item: &Value) -> Option<Self>;

    /// What no two of one list may share.
    fn identity(&self) -> &str;
}

impl Item for Resource {
    const METHOD: &'static str = "resources/list";
    const KEY: &'static str = "resources";
    const NOUN: &'static str = "resources";

    fn read(item: &Value) -> Option<Self> {
        let uri = text(item, "uri").filter(|uri| !uri.is_empty())?;
        Some(Self {
            name: text(item, "name").unwrap_or_default(),
            title: title(item),
            description: text(item, "description").unwrap_or_default(),
            mime: text(item, "mimeType").unwrap_or_default(),
            size: item.get("size").and_then(Value::as_u64),
            uri,
        })
    }

    fn identity(&self) -> &str {
        &self.uri
    }
}

impl Item for ResourceTemplate {
    const METHOD: &'static str = "resources/templates/list";
    const KEY: &'static str = "resourceTemplates";
    const NOUN: &'static str = "templates of resources";

    fn read(item: &Value) -> Option<Self> {
        Some(Self {
            uri_template: text(item, "uriTemplate").filter(|uri| !uri.is_empty())?,
            name: text(item, "name").unwrap_or_default(),
            title: title(item),
            description: text(item, "description").unwrap_or_default(),
            mime: text(item, "mimeType").unwrap_or_default(),
        })
    }

    fn identity(&self) -> &str {
        &self.uri_template
    }
}

impl Item for Prompt {
    const METHOD: &'static str = "prompts/list";
    const KEY: &'static str = "prompts";
    const NOUN: &'static str = "prompts";

    fn read(item: &Value) -> Option<Self> {
        let arguments = item.get("arguments").and_then(Value::as_array);
        Some(Self {
            name: text(item, "name").filter(|name| !name.is_empty())?,
            title: title(item),
            description: text(item, "description").unwrap_or_default(),
            arguments: arguments
                .into_iter()
                .flatten()
                .take(ARGUMENTS)
                .filter_map(argument)
                .collect(),
        })
    }

    fn identity(&self) -> &str {
        &self.name
    }
}

fn argument(item: &Value) -> Option<PromptArgument> {
    Some(PromptArgument {
        name: text(item, "name").filter(|name| !name.is_empty())?,
        title: title(item),
        description: text(item, "description").unwrap_or_default(),
        required: item.get("required").and_then(Value::as_bool).unwrap_or(false),
    })
}

fn title(item: &Value) -> Option<String> {
    text(item, "title").filter(|title| !title.is_empty())
}

/// All pages of one list, put together.
#[derive(Debug)]
pub struct Items<T> {
    read: Vec<T>,
    remarks: Vec<String>,
    seen: HashSet<String>,
    weight: usize,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { read: Vec::new(), remarks: Vec::new(), seen: HashSet::new(), weight: 0 }
    }
}

impl<T: Item> Items<T> {
    /// Takes one page; returns how many items it had. `Err` where it is no list at all.
    pub fn take_page(&mut self, page: &Value) -> Result<usize, String> {
        let Some(items) = page.get(T::KEY).and_then(Value::as_array) else {
            return Err(format!("its answer to {} has no list of {}", T::METHOD, T::NOUN));
        };
        for item in items {
            self.weight = self.weight.saturating_add(weight(item));
            if self.full().is_some() {
                break;
            }
            self.take(item);
        }
        Ok(items.len())
    }

    fn take(&mut self, item: &Value) {
        let Some(one) = T::read(item) else {
            self.remark(format!("one of its {} has no name or address", T::NOUN));
            return;
        };
        if self.seen.insert(one.identity().to_owned()) {
            self.read.push(one);
        } else {
            // N4: the first one counts.
            self.remark(format!("{} lists {} twice", T::METHOD, super::cut(one.identity(), 200)));
        }
    }

    fn remark(&mut self, remark: String) {
        if self.remarks.len() < REMARKS && !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// Which limit was reached, in words.
    pub fn full(&self) -> Option<String> {
        if self.read.len() >= ITEM_LIMIT {
            return Some(format!("the limit of {ITEM_LIMIT} {} is reached", T::NOUN));
        }
        (self.weight > LIST_LIMIT)
            .then(|| format!("more than the limit of {LIST_LIMIT} bytes (list of {})", T::NOUN))
    }

    /// The list as far as it was read; `cut` says why it ends early.
    pub fn finish(mut self, cut: Option<String>) -> Listing<T> {
        self.remarks.extend(cut.map(|why| format!("the list of {} was cut: {why}", T::NOUN)));
        Listing { items: self.read, remarks: self.remarks }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_are_read_over_pages_and_a_bad_one_goes_alone() {
        let mut list = Items::<Resource>::default();
        let page = json!({"resources": [
            {"uri": "a:1", "name": "one", "title": "One", "description": "d", "mimeType": "text/plain", "size": 7},
            {"name": "no address"}, "text"]});
        assert_eq!(list.take_page(&page), Ok(3));
        assert_eq!(list.take_page(&json!({"resources": [{"uri": "a:2"}, {"uri": "a:1"}]})), Ok(2));
        let list = list.finish(None);
        let first = Resource {
            uri: "a:1".to_owned(),
            name: "one".to_owned(),
            title: Some("One".to_owned()),
            description: "d".to_owned(),
            mime: "text/plain".to_owned(),
            size: Some(7),
        };
        assert_eq!(list.items.first(), Some(&first));
        assert_eq!(list.items.len(), 2);
        assert_eq!(
            list.remarks,
            ["one of its resources has no name or address", "resources/list lists a:1 twice"]
        );
    }

    #[test]
    fn arguments_of_a_prompt_are_required_only_where_it_says_so() {
        let item =
            json!({"name": "p", "arguments": [{"name": "a", "required": true}, {"name": "b"}, {}]});
        let prompt = Prompt::read(&item).unwrap();
        let required: Vec<_> =
            prompt.arguments.iter().map(|a| (a.name.as_str(), a.required)).collect();
        assert_eq!(required, [("a", true), ("b", false)]);
    }

    #[test]
    fn a_list_is_bounded_and_names_the_limit() {
        let prompts: Vec<Value> =
            (0..=ITEM_LIMIT).map(|at| json!({"name": at.to_string()})).collect();
        let mut list = Items::<Prompt>::default();
        list.take_page(&json!({"prompts": prompts})).unwrap();
        assert_eq!(list.full().unwrap(), "the limit of 10000 prompts is reached");
        assert_eq!(list.finish(None).items.len(), ITEM_LIMIT);
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        assert!(Items::<ResourceTemplate>::default().take_page(&json!({"resources": []})).is_err());
        assert!(Items::<Prompt>::default().take_page(&json!("x")).is_err());
    }
}
