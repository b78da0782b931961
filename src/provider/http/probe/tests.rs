use std::io::{Read, Write};
use std::net::TcpListener;

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
        let only = OfferedModel { name: "a".to_owned(), window: None };
        assert_eq!(reading::models(&list), Some(vec![only]));
    }
    let sized = json!({"data": [{"id": "a", "max_model_len": 4096}]});
    assert_eq!(reading::models(&sized).unwrap()[0].window, Some(4096));
    assert_eq!(reading::models(&json!({"object": "list", "data": null})), Some(Vec::new()));
    assert_eq!(reading::models(&json!({"data": "x"})), None);
}

#[test]
fn the_root_of_a_server_is_beside_its_version() {
    let base = Url::parse("http://localhost:11434/v1").unwrap();
    assert_eq!(beside(&base, "api/show").as_str(), "http://localhost:11434/api/show");
}

#[tokio::test]
async fn only_endpoints_that_answer_with_models_are_found() {
    let listen = |body: &'static str| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
        });
        Url::parse(&format!("http://localhost:{port}/v1")).unwrap()
    };
    let good = listen(r#"{"data": [{"id": "m"}]}"#);
    let other = listen("<html>a web page</html>");
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://localhost:{}/v1", listener.local_addr().unwrap().port())
    };
    let closed = Url::parse(&closed).unwrap();
    let known = vec![("closed", closed), ("good", good.clone()), ("other", other)];
    let found =
        LocalEndpoint { name: "good".to_owned(), base_url: good, models: vec!["m".to_owned()] };
    let (sender, mut told) = mpsc::channel(4);
    answering(known, &sender).await;
    drop(sender);
    assert_eq!(told.recv().await, Some(found));
    assert_eq!(told.recv().await, None);
}

#[test]
fn docker_tells_the_window_beside_its_engines() {
    let base = Url::parse("http://localhost:12434/engines/v1").unwrap();
    assert_eq!(docker_models(&base).unwrap().as_str(), "http://localhost:12434/models");
    assert_eq!(docker_models(&Url::parse("http://localhost:11434/v1").unwrap()), None);
    let list = json!([
        {"id": "sha256:1", "tags": ["ai/other:latest"], "config": {"context_size": 1024}},
        {"id": "sha256:2", "tags": ["ai/qwen3:latest"], "config": {"context_size": 32768}},
        {"id": "sha256:3", "tags": ["ai/smol"], "config": {"gguf": {"llama.context_length": "8192"}}},
    ]);
    assert_eq!(reading::window_in_docker(&list, "ai/qwen3"), Some(32768));
    assert_eq!(reading::window_in_docker(&list, "ai/smol"), Some(8192));
    assert_eq!(reading::window_in_docker(&list, "ai/none"), None);
}
