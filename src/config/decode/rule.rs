//! Rules. One that cannot be understood whole is no rule: the caller closes.

use super::super::{keys, scalar, secret};
use super::{Context, Fields, Node, Problem, Value, join};
use crate::permission::{GrantLimits, Matcher, Pattern, Rule, RuleOrigin};

const SHAPE: &str = "a rule such as `{ tool: delete_*, permissions: ask }`";
const MATCHER: &str = "a text (`*` allowed), a number, `true`, `false`, or a list of those";

/// Decodes one rule of a config entry. A permission word that is not known counts as
/// [`Context::mode`] says, with a warning; everything else that is not understood is an error.
/// `owner` is the server whose entry it stands in.
pub(in super::super) fn decode(
    context: &mut Context<'_>,
    node: &Node,
    path: &str,
    owner: Option<&str>,
) -> Result<Rule, Problem> {
    let fields = Fields::of(node, path, SHAPE)?;
    if let Some(entry) = fields.unknown(&keys::RULE).first() {
        return Err(fields.unknown_key(entry, &keys::RULE));
    }
    if let (Some(owner), Some(entry)) = (owner, fields.get("server")) {
        let field = fields.path_of("server");
        let named = scalar::text(&entry.value, &field, "the name of this server")?;
        if named != owner {
            let what = format!(
                "this rule is for {}, but stands in the entry of `{owner}`",
                secret::quote(named)
            );
            return Err(Problem::new(
                entry.value.at,
                field,
                what,
                "Put it into the entry of its own server, or take `server` out.",
            ));
        }
    }
    let tool = required(&fields, "tool")?;
    let tool = pattern(tool, &fields.path_of("tool"))?;
    let when = fields.get("when").map(|entry| when(&entry.value, &fields.path_of("when")));
    let read_only = fields.get("readOnly");
    let read_only =
        read_only.map(|entry| scalar::switch(&entry.value, &fields.path_of("readOnly")));
    let destructive = fields.get("destructive");
    let destructive =
        destructive.map(|entry| scalar::switch(&entry.value, &fields.path_of("destructive")));
    let from = fields.get("from").map(|entry| sources(&entry.value, &fields.path_of("from")));
    let max_calls = fields.get("maxCalls");
    let max_calls = max_calls.map(|entry| scalar::rate(&entry.value, &fields.path_of("maxCalls")));
    let field = fields.path_of("permissions");
    let permissions = required(&fields, "permissions")?;
    let permissions = context.mode(permissions, &field);
    let pin = fields.get("pin").map(|entry| {
        let field = fields.path_of("pin");
        scalar::text(&entry.value, &field, "a fingerprint").map(str::to_owned)
    });
    let origin = RuleOrigin { file: Some(context.file.to_path_buf()), line: Some(node.at.line) };
    Ok(Rule {
        tool,
        when: when.transpose()?.unwrap_or_default(),
        read_only: read_only.transpose()?,
        destructive: destructive.transpose()?,
        from: from.transpose()?.unwrap_or_default(),
        permissions,
        max_calls: max_calls.transpose()?,
        pin: pin.transpose()?,
        origin,
    })
}

fn required<'n>(fields: &Fields<'n>, key: &str) -> Result<&'n Node, Problem> {
    fields.get(key).map(|entry| &entry.value).ok_or_else(|| {
        Problem::new(
            fields.at,
            fields.path_of(key),
            format!("`{key}` is missing, so the rule decides nothing"),
            format!("Allowed: {SHAPE}."),
        )
    })
}

/// A pattern over tool names.
pub(in super::super) fn pattern(node: &Node, field: &str) -> Result<Pattern, Problem> {
    match &node.value {
        Value::Int(number) => Ok(Pattern(number.to_string())),
        _ => scalar::text(node, field, "a tool's original name, `*` allowed")
            .map(|text| Pattern(text.to_owned())),
    }
}

/// One pattern over names of servers, or a list of them.
fn sources(node: &Node, field: &str) -> Result<Vec<Pattern>, Problem> {
    let one = |node: &Node| {
        scalar::text(node, field, "a server's name, `*` allowed")
            .map(|text| Pattern(text.to_owned()))
    };
    match &node.value {
        Value::List(items) if !items.is_empty() => items.iter().map(one).collect(),
        _ => one(node).map(|pattern| vec![pattern]),
    }
}

/// A list of patterns over tool names.
pub(super) fn patterns(node: &Node, field: &str) -> Result<Vec<Pattern>, Problem> {
    let Value::List(items) = &node.value else {
        let allowed = "a list of original names, such as `[get_me, list_*]`";
        return Err(Problem::found(node.at, field, node, allowed));
    };
    let numbered = items.iter().enumerate();
    numbered.map(|(index, item)| pattern(item, &format!("{field}[{index}]"))).collect()
}

fn when(node: &Node, path: &str) -> Result<Vec<(String, Matcher)>, Problem> {
    let allowed = "a map of JSON pointers and values, such as `{ /owner: my-org }`";
    let fields = Fields::of(node, path, allowed)?;
    if fields.entries.is_empty() {
        return Err(Problem::found(node.at, path, node, allowed));
    }
    let decode = |entry: &super::Entry| {
        let field = join(path, &entry.key);
        if !is_pointer(&entry.key) {
            let what = format!("{} is no JSON pointer", secret::quote(&entry.key));
            let advice = format!("A pointer begins with `/`: `/{}`.", entry.key);
            return Err(Problem::new(entry.key_at, field, what, advice));
        }
        Ok((entry.key.clone(), matcher(&entry.value, &field)?))
    };
    fields.entries.iter().map(decode).collect()
}

/// RFC 6901: `/` before every token, `~` only as `~0` and `~1`.
fn is_pointer(text: &str) -> bool {
    text.starts_with('/') && text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}

fn matcher(node: &Node, field: &str) -> Result<Matcher, Problem> {
    let value = match &node.value {
        Value::Text(text) => return Ok(Matcher::Text(Pattern(text.clone()))),
        Value::List(items) if !items.is_empty() => {
            let one = |(index, item): (usize, &Node)| match item.value {
                Value::List(_) => Err(Problem::found(item.at, field, item, MATCHER)),
                _ => matcher(item, &format!("{field}[{index}]")),
            };
            return items.iter().enumerate().map(one).collect::<Result<_, _>>().map(Matcher::OneOf);
        }
        Value::Null => Some(serde_json::Value::Null),
        Value::Bool(value) => Some(serde_json::Value::Bool(*value)),
        Value::Int(number) => whole(*number),
        Value::Float(number) => serde_json::Number::from_f64(*number).map(Into::into),
        Value::List(_) | Value::Map(_) | Value::Tagged => None,
    };
    value.map(Matcher::Value).ok_or_else(|| Problem::found(node.at, field, node, MATCHER))
}

fn whole(number: i128) -> Option<serde_json::Value> {
    let small = i64::try_from(number).map(Into::into);
    small.or_else(|_| u64::try_from(number).map(Into::into)).ok()
}

/// A rule as the file would write it, without its server.
pub(crate) fn write(rule: &Rule) -> serde_yaml::Mapping {
    let mut map = serde_yaml::Mapping::new();
    map.insert("tool".into(), rule.tool.0.clone().into());
    if !rule.when.is_empty() {
        let when: serde_yaml::Mapping = rule
            .when
            .iter()
            .map(|(pointer, matcher)| (pointer.clone().into(), write_matcher(matcher)))
            .collect();
        map.insert("when".into(), when.into());
    }
    if let Some(read_only) = rule.read_only {
        map.insert("readOnly".into(), read_only.into());
    }
    match rule.from.as_slice() {
        [] => {}
        [one] => drop(map.insert("from".into(), one.0.clone().into())),
        several => {
            let names: Vec<serde_yaml::Value> =
                several.iter().map(|pattern| pattern.0.clone().into()).collect();
            map.insert("from".into(), names.into());
        }
    }
    map.insert("permissions".into(), rule.permissions.word().into());
    if let Some(destructive) = rule.destructive {
        map.insert("destructive".into(), destructive.into());
    }
    if let Some(rate) = rule.max_calls {
        map.insert("maxCalls".into(), scalar::show_rate(rate).into());
    }
    if let Some(pin) = &rule.pin {
        map.insert("pin".into(), pin.clone().into());
    }
    map
}

/// The limits of session grants as the file would write them, where there are any.
pub(crate) fn write_grants(grants: GrantLimits) -> Option<String> {
    let until = grants.until.map(|until| format!("until: {}", scalar::show_duration(until)));
    let rate = grants.max_calls.map(|rate| format!("maxCalls: {}", scalar::show_rate(rate)));
    let parts: Vec<String> = until.into_iter().chain(rate).collect();
    (!parts.is_empty()).then(|| format!("{{ {} }}", parts.join(", ")))
}

fn write_matcher(matcher: &Matcher) -> serde_yaml::Value {
    match matcher {
        Matcher::Text(pattern) => pattern.0.clone().into(),
        Matcher::Value(value) => serde_yaml::to_value(value).unwrap_or(serde_yaml::Value::Null),
        Matcher::OneOf(several) => several.iter().map(write_matcher).collect::<Vec<_>>().into(),
    }
}
