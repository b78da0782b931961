//! The policy: grants, rules and modes, strictest on doubt.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::limits::{CallLog, Grant};
use super::matching::{Applied, Fit};
use super::rule::{Pattern, Rate, Rule, RuleOrigin};
use super::standing::{Listing, Standings};
use crate::config::PinMode;
use crate::domain::{Carried, Mode, PinState, ServerName, Tool, ToolId};

/// Why a decision is as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Because {
    /// A session grant of the user.
    Grant,
    /// A rule.
    Rule(Box<Rule>),
    /// A rule that would let it run, or forbid it, may or may not fit these arguments.
    Undecided(Box<Rule>),
    /// The server's own mode.
    ServerMode,
    /// The global mode.
    GlobalMode,
    /// The definition changed since it was allowed.
    PinChanged,
    /// A limit of a rule or grant was reached.
    Limit(String),
    /// The server is not known to the policy.
    UnknownServer,
    /// The arguments repeat a result of another server.
    Carried(Box<Carried>),
}

/// The answer of the policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What to do.
    pub verdict: Mode,
    /// Why.
    pub because: Because,
}

impl Decision {
    fn new(verdict: Mode, because: Because) -> Self {
        Self { verdict, because }
    }

    fn ask(because: Because) -> Self {
        Self::new(Mode::Ask, because)
    }
}

/// Modes and rules of one server.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServerPolicy {
    /// Its own mode, if it has one.
    pub mode: Option<Mode>,
    /// Its rules, in order: those of the command line first, then the user's file of remembered
    /// rules, then the config's.
    pub rules: Vec<Rule>,
}

/// Everything that decides about calls.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// The mode where nothing else decides; `None` is *ask*.
    pub global: Option<Mode>,
    /// By server.
    pub servers: HashMap<ServerName, ServerPolicy>,
    /// What a changed definition does.
    pub pins: PinMode,
    /// What a session grant allows at most: how long, and how often.
    pub grant_limits: GrantLimits,
    /// The file that *always* writes to, for saying where such a rule stands.
    pub rules_file: Option<PathBuf>,
    wide_rules: Vec<(Pattern, Rule)>,
    grants: HashMap<ToolId, Grant>,
    log: CallLog,
    standings: Standings,
}

/// Limits of the grants that a person gives for the rest of a run; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GrantLimits {
    /// How long they hold.
    pub until: Option<Duration>,
    /// How often they may be used.
    pub max_calls: Option<Rate>,
}

impl Policy {
    /// A policy without grants.
    pub fn new(global: Mode, servers: HashMap<ServerName, ServerPolicy>) -> Self {
        Self { global: Some(global), servers, ..Self::default() }
    }

    /// Adds a rule for all servers whose name fits, before the rules of the servers themselves and
    /// after those added before.
    pub fn add_global_rule(&mut self, server: Pattern, rule: Rule) {
        self.wide_rules.push((server, rule));
    }

    /// The rules for all servers whose name fits, in order.
    pub fn global_rules(&self) -> impl Iterator<Item = (&Pattern, &Rule)> {
        self.wide_rules.iter().map(|(server, rule)| (server, rule))
    }

    /// Takes a rule for several servers out.
    pub(super) fn forget_global(&mut self, rule: &Rule) {
        self.wide_rules.retain(|(_, known)| known != rule);
        self.standings.wide.clear();
    }

    /// Takes in what servers list, whole: rules that fit nothing of it are read as they were
    /// probably meant. Nothing to be told of where there are no rules.
    pub fn learn(&mut self, listings: impl IntoIterator<Item = Listing>) {
        let any = !self.wide_rules.is_empty()
            || self.servers.values().any(|server| !server.rules.is_empty());
        let listings: Vec<Listing> = if any { listings.into_iter().collect() } else { Vec::new() };
        let own = |name: &ServerName| {
            self.servers.get(name).map(|server| server.rules.as_slice()).unwrap_or_default()
        };
        self.standings = Standings::new(&listings, own, &self.wide_rules);
    }

    /// Allows a tool, with this definition, for the rest of the run.
    pub fn grant(&mut self, tool: &Tool) {
        self.grant_within(tool, None, None);
    }

    /// Allows a tool, with this definition, within [`Policy::grant_limits`].
    pub fn grant_limited(&mut self, tool: &Tool, now: Instant) {
        let GrantLimits { until, max_calls } = self.grant_limits;
        self.grant_within(tool, until.and_then(|until| now.checked_add(until)), max_calls);
    }

    /// Allows a tool, with this definition, until a time and so often.
    pub fn grant_within(&mut self, tool: &Tool, until: Option<Instant>, rate: Option<Rate>) {
        self.grants.insert(tool.id.clone(), Grant { pin: tool.pin.clone(), until, rate });
    }

    /// Takes a grant back.
    pub fn revoke(&mut self, tool: &ToolId) {
        self.grants.remove(tool);
    }

    /// Takes all grants back.
    pub fn end_grants(&mut self) {
        self.grants.clear();
    }

    /// The rule that *always* writes for a tool, with the file that it goes to.
    pub fn always(&self, tool: &Tool) -> Rule {
        let origin = RuleOrigin { file: self.rules_file.clone(), line: None };
        Rule { origin, ..Rule::always(tool) }
    }

    /// Puts a rule that the user just wrote before the server's others.
    pub fn remember(&mut self, server: &ServerName, rule: Rule) {
        self.standings.inserted(server);
        self.servers.entry(server.clone()).or_default().rules.insert(0, rule);
    }

    /// Notes that a call was let through, for the rates. Call it once a call, whoever allowed it.
    pub fn record(&mut self, tool: &Tool, now: Instant) {
        self.log.record(&tool.id, now);
    }

    /// Decides about one call. Strictest on doubt; a matching *deny* beats everything.
    pub fn decide(&self, tool: &Tool, arguments: &Map<String, Value>, now: Instant) -> Decision {
        self.judge(tool, arguments, Some(now))
    }

    /// Decides about a tool whose arguments are not known yet: what the catalog shows. Rates and
    /// ends of grants are left out of it.
    pub fn preview(&self, tool: &Tool) -> Decision {
        self.judge(tool, &Map::new(), None)
    }

    fn judge(&self, tool: &Tool, arguments: &Map<String, Value>, now: Option<Instant>) -> Decision {
        let fits = |applied: &Applied<'_>| applied.fit(tool, arguments);
        let mut denials = self.rules(tool).filter(|applied| applied.rule.permissions == Mode::Deny);
        if let Some(denial) = denials.find(|applied| fits(applied) >= Fit::Likely) {
            return Decision::new(Mode::Deny, Because::Rule(Box::new(denial.rule.clone())));
        }
        if self.pins == PinMode::Block && tool.pin_state == PinState::Changed {
            return Decision::new(Mode::Deny, Because::PinChanged);
        }
        let Some(server) = self.servers.get(&tool.id.server) else {
            return Decision::ask(Because::UnknownServer);
        };
        let grant = self.grants.get(&tool.id).filter(|grant| grant.pin == tool.pin);
        let ended = match grant.map(|grant| self.end_of(grant, &tool.id, now)) {
            Some(None) => return Decision::new(Mode::Auto, Because::Grant),
            Some(Some(why)) => Some(why),
            None => None,
        };
        let decision = self.by_rule_or_mode(tool, server, now, fits);
        match ended {
            Some(why) if decision.verdict != Mode::Deny => Decision::ask(Because::Limit(why)),
            _ => decision,
        }
    }

    /// The first rule that fits beyond doubt decides, else the modes. One before it that may fit
    /// counts only where it is the stricter one; one that denies also behind it, as its denial would.
    fn by_rule_or_mode(
        &self,
        tool: &Tool,
        server: &ServerPolicy,
        now: Option<Instant>,
        fits: impl Fn(&Applied<'_>) -> Fit,
    ) -> Decision {
        let mut doubt = None;
        let mut first = None;
        for applied in self.rules(tool) {
            match fits(&applied) {
                Fit::Yes => first = first.or(Some(applied)),
                Fit::Doubt | Fit::Likely
                    if first.is_none() || applied.rule.permissions == Mode::Deny =>
                {
                    doubt = doubt.or(Some(applied.rule));
                }
                Fit::Doubt | Fit::Likely | Fit::No => {}
            }
        }
        let decision = match (first, server.mode) {
            (Some(applied), _) => {
                let because = Because::Rule(Box::new(applied.rule.clone()));
                Decision::new(applied.rule.permissions, because)
            }
            (None, Some(mode)) => Decision::new(mode, Because::ServerMode),
            (None, None) => Decision::new(self.global.unwrap_or(Mode::Ask), Because::GlobalMode),
        };
        if decision.verdict != Mode::Auto {
            return decision;
        }
        self.held_back(tool, first, doubt, now).map_or(decision, Decision::ask)
    }

    /// What turns an *auto* into an *ask*.
    fn held_back(
        &self,
        tool: &Tool,
        by: Option<Applied<'_>>,
        doubt: Option<&Rule>,
        now: Option<Instant>,
    ) -> Option<Because> {
        if let Some(rule) = doubt {
            return Some(Because::Undecided(Box::new(rule.clone())));
        }
        // A rule bound to this very definition is an answer to the change.
        let bound = by.is_some_and(|applied| applied.rule.pin.is_some());
        if tool.pin_state == PinState::Changed && self.pins != PinMode::Off && !bound {
            return Some(Because::PinChanged);
        }
        let applied = by?;
        let rate = applied.rule.max_calls?;
        self.log.used_up(rate, now?, |id| applied.counts(id, tool)).then(|| {
            Because::Limit(format!("the limit of {rate} calls was reached of {}", applied.rule))
        })
    }

    /// Why a grant no longer holds.
    fn end_of(&self, grant: &Grant, tool: &ToolId, now: Option<Instant>) -> Option<String> {
        let now = now?;
        if grant.until.is_some_and(|until| now >= until) {
            return Some("the time of the session grant is over".to_owned());
        }
        let rate = grant.rate?;
        self.log
            .used_up(rate, now, |id| id == tool)
            .then(|| format!("the limit of {rate} calls of the session grant was reached"))
    }

    /// After how long the limits that hold a tool back let it through again; `None` if none does.
    pub(super) fn wait(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        now: Instant,
    ) -> Option<Duration> {
        let grant = self.grants.get(&tool.id).filter(|grant| grant.pin == tool.pin);
        let of_grant = grant
            .filter(|grant| grant.until.is_none_or(|until| now < until))
            .and_then(|grant| self.log.wait(grant.rate?, now, |id| *id == tool.id));
        let first = self.rules(tool).find(|applied| applied.fit(tool, arguments) == Fit::Yes);
        let of_rule = first.and_then(|applied| {
            self.log.wait(applied.rule.max_calls?, now, |id| applied.counts(id, tool))
        });
        of_grant.or(of_rule)
    }

    /// All rules that may concern a tool, in their order.
    pub(super) fn rules<'a>(
        &'a self,
        tool: &'a Tool,
    ) -> impl Iterator<Item = Applied<'a>> + use<'a> {
        let server = &tool.id.server;
        let wide = self.wide_rules.iter().enumerate().map(|(at, (servers, rule))| Applied {
            rule,
            servers: Some(servers),
            standing: self.standings.wide.get(at),
        });
        let rules = self.servers.get(server).map(|known| known.rules.as_slice());
        // Standings that are not about these very rules say nothing of them.
        let standings = self.standings.own.get(server);
        let standings = standings.filter(|all| Some(all.len()) == rules.map(<[Rule]>::len));
        let own = rules.unwrap_or_default().iter().enumerate();
        let own = own.map(move |(at, rule)| Applied {
            rule,
            servers: None,
            standing: standings.and_then(|all| all.get(at)),
        });
        wide.filter(|applied| applied.concerns(server)).chain(own)
    }
}

impl Applied<'_> {
    /// Whether calls of that tool count for the rule's limit.
    fn counts(&self, id: &ToolId, tool: &Tool) -> bool {
        let server = match self.servers {
            Some(servers) => servers.matches(id.server.as_str()),
            None => id.server == tool.id.server,
        };
        server && self.rule.tool.matches(id.tool.as_str())
    }
}
