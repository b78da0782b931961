//! `resources list|read`: what servers offer to be read, and what it holds.

use serde_json::{Value, json};

use super::inquire::{self, Answers, Asker, brief};
use super::output::{self, Cell, Mark, Paint};
use super::{Exit, Stop, call, json};
use crate::cli::{self, Common};
use crate::domain::resource::{expand, variables};
use crate::domain::{
    Content, Found, Inquiry, Resource, ResourcePart, ResourceTemplate, ServerName, Warning,
};
use crate::text;

/// Runs the command.
pub async fn run(common: &Common, what: &cli::Resources) -> Result<Exit, Stop> {
    match what {
        cli::Resources::List(form) => {
            let server = form.server.as_deref();
            inquire::run(common, server, async |asker, only| list(asker, only, form.json).await)
                .await
        }
        cli::Resources::Read(read) => {
            let uri = address(&read.uri, &read.variables)?;
            let server = read.from.server.as_deref();
            inquire::run(common, server, async |asker, only| {
                let from = match only {
                    Some(server) => server.clone(),
                    None => holder(asker, &uri).await?,
                };
                self::read(asker, &from, uri, read.from.json).await
            })
            .await
        }
    }
}

async fn list(asker: &mut Asker, only: Option<&ServerName>, as_json: bool) -> Result<Exit, Stop> {
    let what = [Inquiry::Resources, Inquiry::Templates];
    let answers = inquire::ask_all(asker, only, &what).await?;
    let offer = Offer::of(&answers);
    let shown =
        if as_json { json::line(&offer.json(&answers)) } else { offer.render(Paint::for_stdout()) };
    output::print(&shown)?;
    answers.complain();
    Ok(answers.exit(only))
}

/// Everything that servers offer to be read.
#[derive(Default)]
struct Offer<'a> {
    resources: Vec<(&'a ServerName, &'a Resource)>,
    templates: Vec<(&'a ServerName, &'a ResourceTemplate)>,
    warnings: Vec<Warning>,
}

impl<'a> Offer<'a> {
    fn of(answers: &'a Answers) -> Self {
        let mut offer = Self::default();
        for (server, found) in &answers.found {
            match found {
                Found::Resources(listing) => {
                    offer.resources.extend(listing.items.iter().map(|item| (server, item)));
                    offer.warnings.extend(inquire::warnings(server, listing));
                }
                Found::Templates(listing) => {
                    offer.templates.extend(listing.items.iter().map(|item| (server, item)));
                    offer.warnings.extend(inquire::warnings(server, listing));
                }
                _ => {}
            }
        }
        offer
    }

    fn json(&self, answers: &Answers) -> Value {
        let resources = self.resources.iter().map(|(server, item)| {
            json!({
                "server": server, "uri": item.uri, "name": item.name, "title": item.title,
                "description": item.description, "mimeType": item.mime, "size": item.size,
            })
        });
        let templates = self.templates.iter().map(|(server, item)| {
            json!({
                "server": server, "uriTemplate": item.uri_template, "name": item.name,
                "title": item.title, "description": item.description, "mimeType": item.mime,
            })
        });
        json!({
            "resources": resources.collect::<Vec<_>>(),
            "templates": templates.collect::<Vec<_>>(),
            "failed": json::failed(&answers.failed),
            "warnings": self.warnings.iter().map(json::warning).collect::<Vec<_>>(),
        })
    }

    fn render(&self, paint: Paint) -> String {
        let mut out = String::new();
        if self.resources.is_empty() && self.templates.is_empty() {
            out.push_str("No resources.\n");
        }
        if !self.resources.is_empty() {
            let rows: Vec<Vec<Cell>> =
                self.resources.iter().map(|(server, item)| resource(server, item)).collect();
            let heading = ["SERVER", "URI", "NAME", "TYPE", "BYTES"];
            out.push_str(&output::table(paint, &heading, &rows));
        }
        if !self.templates.is_empty() {
            let rows: Vec<Vec<Cell>> =
                self.templates.iter().map(|(server, item)| template(server, item)).collect();
            let heading = ["SERVER", "TEMPLATE", "NAME", "TYPE"];
            out.push_str(&output::table(paint, &heading, &rows));
        }
        out.push_str(&inquire::shown(&self.warnings, paint));
        out
    }
}

fn resource(server: &ServerName, item: &Resource) -> Vec<Cell> {
    vec![
        text::strict_line(server.as_str()).into(),
        Cell::new(text::strict_line(&item.uri).into_string(), Mark::Strong),
        Cell::plain(brief(item.title.as_deref().unwrap_or(&item.name))),
        Cell::plain(brief(&item.mime)),
        Cell::number(item.size.map(|size| size.to_string()).unwrap_or_default()),
    ]
}

fn template(server: &ServerName, item: &ResourceTemplate) -> Vec<Cell> {
    vec![
        text::strict_line(server.as_str()).into(),
        Cell::new(text::strict_line(&item.uri_template).into_string(), Mark::Strong),
        Cell::plain(brief(item.title.as_deref().unwrap_or(&item.name))),
        Cell::plain(brief(&item.mime)),
    ]
}

/// The URI: as it stands, or made from a template where values are given (O5).
fn address(uri: &str, words: &[String]) -> Result<String, Stop> {
    if words.is_empty() {
        return Ok(uri.to_owned());
    }
    let values = words.iter().map(|word| inquire::pair(word)).collect::<Result<Vec<_>, _>>()?;
    let known = variables(uri);
    if let Some((key, _)) = values.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Stop::usage(format!("{uri} has no variable {key}; it has: {known}.")));
    }
    let value = |name: &str| values.iter().find(|(key, _)| key == name).map(|(_, v)| v.clone());
    Ok(expand(uri, &value))
}

/// The server that has a resource: the only one there is, the one that lists it, or the one whose
/// template it fits. It is never offered to several.
async fn holder(asker: &mut Asker, uri: &str) -> Result<ServerName, Stop> {
    if let [only] = asker.program.catalog.servers.as_slice() {
        return Ok(only.name.clone());
    }
    let what = [Inquiry::Resources, Inquiry::Templates];
    let answers = inquire::ask_all(asker, None, &what).await?;
    let offer = Offer::of(&answers);
    let listed = offer.resources.iter().filter(|(_, item)| item.uri == uri).map(|(s, _)| *s);
    let mut servers: Vec<&ServerName> = listed.collect();
    if servers.is_empty() {
        servers.extend(offer.templates.iter().filter(|(_, item)| item.fits(uri)).map(|(s, _)| *s));
        servers.dedup();
    }
    match servers.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            answers.complain();
            Err(Stop::new(
                Exit::Failed,
                format!("no server lists the resource {uri}. --server NAME asks one all the same."),
            ))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
            let names = names.join(" or ");
            Err(Stop::usage(format!("several servers have {uri}: say --server {names}.")))
        }
    }
}

async fn read(
    asker: &mut Asker,
    server: &ServerName,
    uri: String,
    as_json: bool,
) -> Result<Exit, Stop> {
    let found = inquire::ask_one(asker, server, Inquiry::Read { uri: uri.clone() }).await?;
    let Found::Read(parts) = found else { return Err(inquire::ended()) };
    let shown = if as_json {
        let contents: Vec<Value> = parts.iter().map(part).collect();
        json::line(&json!({ "server": server, "uri": uri, "contents": contents }))
    } else {
        render(&parts)
    };
    output::print(&shown)?;
    Ok(Exit::Done)
}

fn part(part: &ResourcePart) -> Value {
    let (key, value) = match &part.content {
        Content::Text(text) => ("text", Value::from(text.as_str())),
        Content::Binary { data, .. } => ("blob", Value::from(data.as_ref())),
        other => ("unknown", json::content(other)),
    };
    let mut shape = json!({ "uri": part.uri, "mimeType": part.mime });
    if let Some(members) = shape.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
    shape
}

/// For people: the text; several parts each under their address.
fn render(parts: &[ResourcePart]) -> String {
    let mut out = String::new();
    for part in parts {
        if parts.len() > 1 {
            let uri = text::strict_line(&part.uri);
            out.extend([format!("== {uri}\n")]);
        }
        out.push_str(text::block(&call::part(&part.content)).as_str());
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
    if parts.is_empty() {
        out.push_str("(the resource is empty)\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Listing;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_template_takes_values_and_refuses_those_it_does_not_know() {
        let uri = "notes://{id}{?page}";
        assert_eq!(address(uri, &words(&["id=a b", "page=2"])).unwrap(), "notes://a%20b?page=2");
        assert_eq!(address(uri, &[]).unwrap(), uri);
        let stop = address(uri, &words(&["idd=1"])).unwrap_err();
        assert!(stop.message.contains("it has: id, page"), "{stop}");
        assert_eq!(stop.exit, Exit::Usage);
    }

    #[test]
    fn tables_show_resources_and_templates_clean() {
        let resource = Resource {
            uri: "a:1\u{1b}[2J".to_owned(),
            name: "one".to_owned(),
            title: None,
            description: String::new(),
            mime: "text/plain".to_owned(),
            size: Some(12),
        };
        let template = ResourceTemplate {
            uri_template: "a:{id}".to_owned(),
            name: "each".to_owned(),
            title: Some("Each one".to_owned()),
            description: String::new(),
            mime: String::new(),
        };
        let listing = Listing { items: vec![resource], remarks: vec!["it was cut".to_owned()] };
        let templates = Listing { items: vec![template], remarks: Vec::new() };
        let answers = Answers {
            found: vec![
                ("s".into(), Found::Resources(listing)),
                ("s".into(), Found::Templates(templates)),
            ],
            ..Answers::default()
        };
        let shown = Offer::of(&answers).render(Paint::Plain);
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(shown.contains("one") && shown.contains("12"), "{shown}");
        assert!(shown.contains("s       a:{id}    Each one"), "{shown}");
        assert!(shown.ends_with("warning: s: it was cut.\n"), "{shown}");
    }

    #[test]
    fn several_parts_stand_under_their_addresses_and_none_is_said() {
        let part = |uri: &str, text: &str| ResourcePart {
            uri: uri.to_owned(),
            mime: String::new(),
            content: Content::Text(text.to_owned()),
        };
        assert_eq!(render(&[part("a:1", "x")]), "x\n");
        assert_eq!(render(&[part("a:1", "x"), part("a:2", "y\n")]), "== a:1\nx\n== a:2\ny\n");
        assert_eq!(render(&[]), "(the resource is empty)\n");
    }
}
