use super::*;

#[test]
fn a_discover_result_needs_versions_and_capabilities_and_nothing_else() {
    let found = read_discover(&json!({
        "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "n", "version": "1"}},
        "instructions": "Ask first."
    }))
    .unwrap();
    assert_eq!(found.agreed.identity, "n 1");
    assert_eq!(found.agreed.instructions.as_deref(), Some("Ask first."));
    for other in [
        json!({}),
        json!({"supportedVersions": [], "capabilities": {}}),
        json!({"supportedVersions": [1], "capabilities": {}}),
        json!({"supportedVersions": ["x"], "capabilities": []}),
        json!([]),
    ] {
        assert_eq!(read_discover(&other), None, "{other}");
    }
}

#[test]
fn initialize_accepts_every_legacy_version_and_remarks_on_an_older_one() {
    for version in LEGACY {
        let agreed = read_initialize(&json!({ "protocolVersion": version })).unwrap();
        assert_eq!((agreed.version.as_str(), agreed.remarks.len()), (version, 0));
    }
    assert_eq!(read_initialize(&json!({ "protocolVersion": OLDER })).unwrap().remarks.len(), 1);
    for wrong in [json!({ "protocolVersion": "1999-01-01" }), json!({}), json!(null)] {
        assert!(read_initialize(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn instructions_are_cut_at_their_limit_between_characters() {
    let long = "é".repeat(INSTRUCTIONS_LIMIT);
    let agreed = read_initialize(&json!({ "protocolVersion": LEGACY[0], "instructions": long }));
    assert_eq!(agreed.unwrap().instructions.unwrap().len(), INSTRUCTIONS_LIMIT);
}
