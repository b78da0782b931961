//! Names and identity.
//!
//! A tool's identity is always the pair (server, original name): [`ToolId`]. The [`ModelName`] is
//! only what the model sees; the way back is a table ([`crate::domain::Catalog::by_model_name`]),
//! never parsing.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the text as it is, without cleaning it.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The raw text. Not safe to show: see [`crate::text`].
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// The name of a configured server, as the user wrote it.
    ServerName
}
name! {
    /// A tool's original name, as its server spells it. Any text is possible.
    ToolName
}
name! {
    /// The name by which the model knows a tool: `[A-Za-z_][A-Za-z0-9_]{0,63}`.
    ModelName
}

/// Identity of a tool: the server it belongs to and its original name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolId {
    /// The configured server.
    pub server: ServerName,
    /// The original name on that server.
    pub tool: ToolName,
}

impl ToolId {
    /// Pairs a server with one of its tools.
    pub fn new(server: impl Into<ServerName>, tool: impl Into<ToolName>) -> Self {
        Self { server: server.into(), tool: tool.into() }
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool)
    }
}

/// Longest model name that every provider takes.
const LONGEST: usize = 64;
/// Characters of the hash that tells names apart.
const HASH: usize = 8;

/// Gives every tool its model name: `{server}_{tool}`, cleaned, at most 64 characters,
/// unique. Returns the names in the order of `ids` and, for each set of tools that would have had
/// the same name, the tools of that set (all of them carry a hash then).
///
/// A name depends on nothing but its own tool and the tools it collides with, never on their order:
/// it is the same on every start.
pub fn model_names(ids: &[ToolId]) -> (Vec<ModelName>, Vec<Vec<ToolId>>) {
    let plain: Vec<String> = ids.iter().map(cleaned).collect();
    let mut salts: Vec<Option<u32>> =
        plain.iter().map(|name| (name.len() > LONGEST).then_some(0)).collect();
    let shared = same(plain.iter().map(String::as_str));
    if shared.is_empty() && salts.iter().all(Option::is_none) {
        return (plain.into_iter().map(ModelName::new).collect(), Vec::new());
    }
    shared.iter().flatten().for_each(|&index| salt(&mut salts, index, 0));
    let collisions = shared
        .into_iter()
        .map(|set| set.into_iter().filter_map(|index| ids.get(index).cloned()).collect())
        .collect();
    loop {
        let names: Vec<String> = ids
            .iter()
            .zip(&plain)
            .zip(&salts)
            .map(|((id, plain), salt)| {
                salt.map_or_else(|| plain.clone(), |salt| hashed(plain, id, salt))
            })
            .collect();
        let again = same(names.iter().map(String::as_str));
        if again.is_empty() {
            return (names.into_iter().map(ModelName::new).collect(), collisions);
        }
        // A plain name that looks like a hashed one, two equal hashes, or the same tool twice.
        for set in again {
            for (place, index) in (0..).zip(set) {
                let next = salts.get(index).copied().flatten().map_or(0, |salt: u32| salt + place);
                salt(&mut salts, index, next);
            }
        }
    }
}

fn salt(salts: &mut [Option<u32>], index: usize, value: u32) {
    if let Some(place) = salts.get_mut(index) {
        *place = Some(value);
    }
}

/// The places at which the same text stands more than once, in the order of their first place.
fn same<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, text) in texts.enumerate() {
        places.entry(text).or_default().push(index);
    }
    let mut several: Vec<_> = places.into_values().filter(|set| set.len() > 1).collect();
    several.sort_unstable();
    several
}

impl ModelName {
    /// The part after the server's name: what tells the tools of one server apart. Where the name
    /// was cut or got a hash nobody would know the tool by it: then the tool's own name.
    pub fn without_server<'a>(&'a self, id: &'a ToolId) -> &'a str {
        if self.as_str() != cleaned(id) {
            return id.tool.as_str();
        }
        let prefix = cleaned(&ToolId::new(id.server.clone(), ""));
        self.as_str().strip_prefix(&prefix).filter(|rest| !rest.is_empty()).unwrap_or(self.as_str())
    }
}

/// Everything but ASCII letters and digits becomes `_`, runs of it become one, and a digit never
/// comes first: one large provider refuses such names.
fn cleaned(id: &ToolId) -> String {
    let mut name = String::with_capacity(id.server.as_str().len() + id.tool.as_str().len() + 2);
    if id.server.as_str().starts_with(|c: char| c.is_ascii_digit()) {
        name.push('_');
    }
    for c in id.server.as_str().chars().chain(['_']).chain(id.tool.as_str().chars()) {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    name
}

/// The name, cut if need be, with a hash of the tool's identity at its end.
fn hashed(plain: &str, id: &ToolId, salt: u32) -> String {
    let mut digest = Sha256::new();
    digest.update(id.server.as_str());
    digest.update([0]);
    digest.update(id.tool.as_str());
    if salt > 0 {
        digest.update([0]);
        digest.update(salt.to_be_bytes());
    }
    let digest = digest.finalize();
    let hash = digest.iter().take(HASH / 2).fold(0, |hash, byte| hash << 8 | u32::from(*byte));
    let head: String = plain.chars().take(LONGEST - HASH - 1).collect();
    format!("{}_{hash:08x}", head.trim_end_matches('_'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(ids: &[(&str, &str)]) -> (Vec<String>, usize) {
        let ids: Vec<_> = ids.iter().map(|(server, tool)| ToolId::new(*server, *tool)).collect();
        let (names, collisions) = model_names(&ids);
        (names.iter().map(ToString::to_string).collect(), collisions.len())
    }

    fn is_sound(name: &str) -> bool {
        (1..=64).contains(&name.len())
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    #[test]
    fn foreign_characters_become_one_underscore() {
        let tools = ["calendar.create_event", "Repo.Get File", "notes/list", "größe.messen"];
        let (names, collisions) = names(&tools.map(|tool| ("office", tool)));
        let expected = [
            "office_calendar_create_event",
            "office_Repo_Get_File",
            "office_notes_list",
            "office_gr_e_messen",
        ];
        assert_eq!((names, collisions), (expected.map(String::from).to_vec(), 0));
    }

    #[test]
    fn the_part_after_the_server_is_what_is_left_of_its_name() {
        for (server, tool, rest) in [
            ("context7", "resolve-library-id", "resolve_library_id"),
            ("my server", "a", "a"),
            ("7up", "drink", "drink"),
            ("a", "", "a_"),
        ] {
            let (names, _) = names(&[(server, tool)]);
            let name = ModelName::new(names.first().unwrap().as_str());
            assert_eq!(name.without_server(&ToolId::new(server, tool)), rest);
        }
    }

    #[test]
    fn tool_whose_name_was_cut_is_known_by_its_own() {
        let (server, tool) =
            ("many-tools-server-with-a-very-long-name", "a_rather_long_tool_name_7");
        let (names, _) = names(&[(server, tool)]);
        let name = ModelName::new(names.first().unwrap().as_str());
        assert_eq!(name.without_server(&ToolId::new(server, tool)), tool);
    }

    #[test]
    fn leading_digit_gets_an_underscore() {
        let (names, _) = names(&[("1c", "ssl_reload"), ("3d-print", "render"), ("docs", "search")]);
        assert_eq!(names, ["_1c_ssl_reload", "_3d_print_render", "docs_search"]);
    }

    #[test]
    fn long_names_are_cut_and_end_in_a_stable_hash() {
        let server = "developer_platform_connector_production_2";
        let tools = [
            (server, "hyperdrive_configuration_edit_x"),
            (server, "search_platform_documentation_archive"),
        ];
        let (both, collisions) = names(&tools);
        assert_eq!(collisions, 0);
        assert!(both.iter().all(|name| is_sound(name) && name.len() == 64), "{both:?}");
        assert!(
            both.iter().all(|name| name.starts_with("developer_platform_connector_production_"))
        );
        assert_eq!(names(&tools[..1]).0[0], both[0]);
    }

    #[test]
    fn every_tool_of_a_collision_gets_a_hash() {
        let tools = ["read-file", "read_file", "read.file", "Read.File"];
        let (names, collisions) = names(&tools.map(|tool| ("files", tool)));
        assert_eq!(collisions, 1);
        assert!(
            names[..3].iter().all(|name| name.len() == "files_read_file".len() + 9),
            "{names:?}"
        );
        assert_eq!(names[3], "files_Read_File");
    }

    #[test]
    fn servers_that_join_alike_are_told_apart() {
        let (names, collisions) = names(&[("acme_", "status"), ("acme", "_status")]);
        assert_eq!(collisions, 1);
        assert_ne!(names[0], names[1]);
        assert!(names.iter().all(|name| name.starts_with("acme_status_")));
    }

    #[test]
    fn name_that_imitates_a_hashed_one_stays_unique() {
        let (first, _) = names(&[("s", "a.b"), ("s", "a_b")]);
        let imitation = first[0].trim_start_matches("s_");
        let (names, _) = names(&[("s", "a.b"), ("s", "a_b"), ("s", imitation), ("s", "a.b")]);
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), 4, "{names:?}");
    }

    proptest! {
        #[test]
        fn names_are_sound_unique_and_independent_of_order(
            ids in prop::collection::vec(("[ab_.1é]{0,4}", "[ab_./é]{0,5}|[a-z]{60,70}"), 0..20),
        ) {
            let ids: Vec<_> = ids.into_iter().map(|(server, tool)| ToolId::new(server.as_str(), tool.as_str())).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            let (names, _) = model_names(&ids);
            let distinct: std::collections::HashSet<_> = names.iter().collect();
            prop_assert_eq!(distinct.len(), ids.len());
            prop_assert!(names.iter().all(|name| is_sound(name.as_str())), "{names:?}");
            let reversed: Vec<_> = ids.iter().rev().cloned().collect();
            let (mut again, _) = model_names(&reversed);
            again.reverse();
            prop_assert_eq!(names, again);
        }
    }
}
