//! Feeds the pure assembly with what the hub knows, and takes its result back.

use std::sync::Arc;

use super::hub::{Assembled, Link};
use super::pinboard::Pinboard;
use crate::config::ServerConfig;
use crate::domain::name::model_names;
use crate::domain::turn::estimate_tokens;
use crate::domain::{FilteredTool, Mode, Tool, ToolId};
use crate::permission::Policy;

/// The key under which pins of a server are remembered.
pub(super) fn endpoint(config: &ServerConfig) -> String {
    crate::redact::url(&config.url)
}

/// Makes anew what the catalog shows of every server's list.
pub(super) fn assemble(links: &mut [Link], pins: &mut Pinboard, policy: &Policy) {
    for link in links.iter_mut() {
        link.made = kept(link);
    }
    let ids: Vec<ToolId> = links
        .iter()
        .flat_map(|link| {
            link.listed.iter().map(|d| ToolId { server: link.name.clone(), tool: d.name.clone() })
        })
        .collect();
    let (names, _) = model_names(&ids);
    let mut named = ids.into_iter().zip(names);
    for link in links.iter_mut() {
        let Some(config) = &link.config else { continue };
        let endpoint = endpoint(config);
        for definition in &link.listed {
            let Some((id, model_name)) = named.next() else { return };
            if link.made.filtered.iter().any(|filtered| filtered.name == definition.name) {
                continue;
            }
            let (pin, pin_state) = pins.see(&endpoint, &id, definition);
            let price = estimate_tokens(&definition.raw.to_string());
            let disabled = link.off.contains(&definition.name);
            let mut tool = Tool {
                id,
                model_name,
                definition: Arc::clone(definition),
                pin,
                pin_state,
                permission: Mode::Ask,
                disabled,
                tokens: u32::try_from(price).unwrap_or(u32::MAX),
            };
            tool.permission = policy.preview(&tool).verdict;
            link.made.tools.push(Arc::new(tool));
        }
    }
}

fn kept(link: &Link) -> Assembled {
    let dropped = link
        .dropped
        .iter()
        .map(|(name, reason)| FilteredTool { name: name.as_str().into(), reason: reason.clone() });
    let mut made = Assembled { filtered: dropped.collect(), ..Assembled::default() };
    let Some(config) = &link.config else { return made };
    for definition in &link.listed {
        let name = definition.name.as_str();
        let listed = config.tools.as_ref().is_none_or(|some| some.iter().any(|p| p.matches(name)));
        let excluded = config.exclude_tools.iter().any(|pattern| pattern.matches(name));
        let binary = crate::schema::binary::binary_parameter(&definition.input_schema);
        let reason = match binary {
            _ if !listed => "not in tools".to_owned(),
            _ if excluded => "in excludeTools".to_owned(),
            Some(path) => format!("wants binary data at {path}"),
            None => continue,
        };
        made.filtered.push(FilteredTool { name: definition.name.clone(), reason });
    }
    made
}
