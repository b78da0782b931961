//! Servers that could be mistaken for others, before anything is sent to them. Pure.

use crate::config::ServerConfig;
use crate::domain::{ServerName, Source, Warning};
use crate::text;

/// What is odd about the names and hosts of the configured servers.
pub(super) fn warnings(servers: &[ServerConfig]) -> Vec<(ServerName, Warning)> {
    let mut found = Vec::new();
    for (place, server) in servers.iter().enumerate() {
        let name = server.name.as_str();
        let host = server.url.host_str().unwrap_or_default();
        let mut warn = |message: String| {
            let advice =
                "Compare it letter by letter with what you meant before you send it anything.";
            let source = Source::Server(server.name.clone());
            found.push((server.name.clone(), Warning::new(source, message, advice)));
        };
        if let Some(odd) = text::is_suspicious(name) {
            warn(format!("The name of this server is not what it seems: {odd}."));
        }
        if let Some(odd) = text::suspicious_host(host) {
            warn(format!("This server is not where it seems: {odd}."));
        }
        let others = || servers.iter().take(place);
        if let Some(other) = text::resembles(name, others().map(|other| other.name.as_str())) {
            warn(format!("The name of this server looks like “{other}”, another one."));
        }
        let hosts = || others().filter_map(|other| other.url.host_str());
        if let Some(other) = text::resembles(host, hosts()) {
            warn(format!("The host {host} looks like {other}, that of another server."));
        }
        if let Some(other) = text::poses_as(host, hosts()) {
            warn(format!("The host {host} only begins like {other}, that of another server."));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str, url: &str) -> ServerConfig {
        ServerConfig::new(name.into(), url.parse().unwrap())
    }

    #[test]
    fn each_disguise_is_named_at_the_server_that_wears_it() {
        let servers = [
            server("github", "https://api.github.com/mcp"),
            server("gıthub", "https://api.githuh.com/mcp"),
            server("far", "https://api.github.com.evil.test/mcp"),
            server("apple", "https://аррӏе.com/mcp"),
            server("one", "https://api.glthub.com/mcp"),
        ];
        let found: Vec<String> =
            warnings(&servers).iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(found, ["gıthub", "far", "apple", "one"]);
        assert!(warnings(&servers[..1]).is_empty());
    }

    #[test]
    fn servers_of_one_host_and_numbered_ones_are_no_disguise() {
        let servers = [
            server("docs", "https://mcp.example.com/docs"),
            server("code", "https://mcp.example.com/code"),
            server("docs2", "https://mcp2.example.com/docs"),
        ];
        assert!(warnings(&servers).is_empty());
    }
}
