//! What a conversation opens with.

use super::*;

#[test]
fn banner_tells_servers_tools_permissions_and_warnings() {
    let mut scene = scene_with_banner();
    insta::assert_snapshot!("banner_80", scene.screen(80, 18));
    insta::assert_snapshot!("banner_50", scene.screen(50, 22));
}

#[test]
fn banner_tells_a_first_user_what_to_do() {
    let mut scene = Scene::new();
    scene.apply(Notice::CatalogChanged { catalog: Arc::new(Catalog::new(vec![], vec![], 1)) });
    insta::assert_snapshot!("banner_without_servers", scene.screen(80, 8));
}

#[test]
fn long_banner_lists_what_is_not_well_and_opens() {
    let mut servers: Vec<Server> =
        (0..20).map(|n| server(&format!("server{n:02}"), ServerState::Ready, 2)).collect();
    servers[17].state = ServerState::Degraded { reason: "the list is 5 min old".into() };
    let mut scene = Scene::new();
    let catalog = Catalog::new(servers, vec![], 1);
    scene.apply(Notice::CatalogChanged { catalog: Arc::new(catalog) });
    let closed = scene.screen(80, 30);
    insta::assert_snapshot!("banner_long", closed);
    scene.go(Move::Previous).go(Move::Toggle);
    let open = scene.screen(80, 30);
    assert!(open.contains("server16"), "{open}");
    assert!(!closed.contains("server16"), "{closed}");
}

#[test]
fn banner_is_refreshed_in_place() {
    let mut scene = scene_with_banner();
    scene.ask("hello");
    let mut servers = catalog().servers;
    servers[3].state = ServerState::Ready;
    let catalog = Arc::new(Catalog::new(servers, vec![], 2));
    scene.apply(Notice::CatalogChanged { catalog });
    let screen = scene.screen(80, 30);
    assert!(screen.contains("3 of 5 servers ready"), "{screen}");
    assert_eq!(screen.matches("mini-me").count(), 1);
    let (banner, message) = (screen.find("mini-me"), screen.find("hello"));
    assert!(banner < message);
}

#[test]
fn warning_that_the_banner_tells_is_not_told_twice() {
    let mut scene = scene_with_banner();
    let told = catalog().all_warnings().next().unwrap().clone();
    assert!(!scene.conversation.apply(&Notice::Warned { warning: told }, scene.now));
    let other = Warning::new(Source::Model, "no tool support", "Choose another model.");
    assert!(scene.conversation.apply(&Notice::Warned { warning: other }, scene.now));
}

#[test]
fn how_many_were_left_out_is_said_whole_or_not_at_all() {
    let mut server = server("everything", ServerState::Ready, 11);
    server.filtered = vec![FilteredTool { name: "old".into(), reason: "not wanted".into() }];
    let mut scene = Scene::new();
    let catalog = Catalog::new(vec![server], vec![], 1);
    scene.apply(Notice::CatalogChanged { catalog: Arc::new(catalog) });
    assert!(scene.screen(100, 12).contains("1 left out"));
    for width in 46..100 {
        let screen = scene.screen(width, 12);
        let row = screen.lines().find(|row| row.contains("everything")).unwrap();
        let whole = row.trim_end_matches([' ', '"']);
        assert!(whole.ends_with("ask") || whole.ends_with("1 left out"), "{width}: {row}");
    }
}

#[test]
fn why_a_server_is_off_is_said_once() {
    let reason = "variable `TOKEN` is not set";
    let server = server("tok", ServerState::Disabled { reason: reason.to_owned() }, 0);
    let source =
        Source::Config { file: "config.yaml".into(), line: Some(3), field: "servers[0]".into() };
    let warning = Warning::new(source, format!("{reason}: server `tok` is disabled."), "Set it.");
    let banner = |warnings: Vec<Warning>| {
        let mut scene = Scene::new();
        let catalog = Catalog::new(vec![server.clone()], warnings, 1);
        scene.apply(Notice::CatalogChanged { catalog: Arc::new(catalog) });
        scene.screen(100, 16)
    };
    for screen in [banner(vec![]), banner(vec![warning])] {
        assert_eq!(screen.matches("is not set").count(), 1, "{screen}");
    }
}
