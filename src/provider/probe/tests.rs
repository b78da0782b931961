use serde_json::json;

use super::*;

#[test]
fn a_window_is_found_under_each_servers_name() {
    for (entry, expected) in [
        (json!({"id": "m", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}}), Some(4096)),
        (json!({"id": "m", "meta": {"n_ctx_train": 8192}}), Some(8192)),
        (json!({"id": "m", "max_model_len": 32768}), Some(32768)),
        (json!({"id": "m", "context_length": 200_000}), Some(200_000)),
        (json!({"id": "m", "max_context_length": 8192, "loaded_context_length": 4096}), Some(4096)),
        (json!({"id": "m", "context_length": 0}), None),
        (json!({"id": "m", "context_length": "many"}), None),
    ] {
        let list = json!({"data": [{"id": "other", "context_length": 7777}, entry]});
        assert_eq!(reading::window_in_models(&list, "m"), expected, "{list}");
    }
    let one = json!({"data": [{"id": "real-name", "max_model_len": 512}]});
    assert_eq!(reading::window_in_models(&one, "alias"), Some(512));
}

#[test]
fn local_servers_tell_what_is_in_force() {
    let props = json!({"default_generation_settings": {"n_ctx": 8192}});
    assert_eq!(reading::window_in_props(&props), Some(8192));
    let running = json!({"models": [{"name": "qwen:latest", "context_length": 16384}]});
    assert_eq!(reading::window_in_running(&running, "qwen"), Some(16384));
    assert_eq!(reading::window_in_running(&running, "other"), None);
    let set =
        json!({"parameters": "stop \"x\"\nnum_ctx    2048", "model_info": {"q.context_length": 1}});
    assert_eq!(reading::window_in_show(&set), Some(2048));
    let trained = json!({"model_info": {"qwen.context_length": 40960}});
    assert_eq!(reading::window_in_show(&trained), Some(40960));
}

#[test]
fn lists_of_models_come_in_several_shapes() {
    for list in [
        json!({"object": "list", "data": [{"id": "a"}, {"id": ""}]}),
        json!({"models": [{"name": "a"}]}),
        json!([{"id": "a"}]),
    ] {
        assert_eq!(reading::models(&list), Some(vec!["a".to_owned()]));
    }
    assert_eq!(reading::models(&json!({"data": "x"})), None);
}

#[test]
fn questions_of_local_servers_stay_near() {
    for near in ["http://localhost:1", "http://10.0.0.7/v1", "http://nas/v1", "http://[::1]/v1"] {
        assert!(is_near(&Url::parse(near).unwrap()), "{near}");
    }
    for far in ["https://api.openai.com/v1", "http://8.8.8.8/v1", "http://[2001:db8::1]/v1"] {
        assert!(!is_near(&Url::parse(far).unwrap()), "{far}");
    }
}

#[test]
fn the_root_of_a_server_is_beside_its_version() {
    let base = Url::parse("http://localhost:11434/v1").unwrap();
    assert_eq!(beside(&base, "api/show").as_str(), "http://localhost:11434/api/show");
}
