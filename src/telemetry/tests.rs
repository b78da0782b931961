use super::*;

fn read(variables: &[(&str, &str)]) -> Result<Option<Settings>, Box<Warning>> {
    let variables = variables.to_vec();
    Settings::from_env(&move |name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    })
}

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");

#[test]
fn nothing_is_traced_unless_a_variable_asks_for_it() {
    assert_eq!(read(&[]), Ok(None));
    assert_eq!(read(&[("OTEL_SERVICE_NAME", "x"), (CAPTURE, "true")]), Ok(None));
    assert_eq!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), Ok(None));
    assert_eq!(read(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")]), Ok(None));
    assert_eq!(read(&[ENDPOINT, ("OTEL_SDK_DISABLED", "true")]), Ok(None));
}

#[test]
fn an_endpoint_or_the_exporters_name_asks_for_traces_without_content() {
    let plain = Ok(Some(Settings::default()));
    assert_eq!(read(&[ENDPOINT]), plain);
    assert_eq!(read(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://x/v1/traces")]), plain);
    assert_eq!(read(&[("OTEL_TRACES_EXPORTER", "otlp")]), plain);
    let content = read(&[ENDPOINT, (CAPTURE, "true")]).unwrap().unwrap();
    assert!(content.content);
}

#[test]
fn what_cannot_be_had_is_a_warning_that_names_the_variable() {
    for (name, value) in [
        ("OTEL_TRACES_EXPORTER", "zipkin"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
    ] {
        let warning = read(&[ENDPOINT, (name, value)]).unwrap_err();
        assert!(warning.message.contains(value), "{warning:?}");
        assert!(!warning.advice.is_empty());
    }
}

#[test]
fn only_a_parent_in_the_w3c_format_is_taken() {
    let sound = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let parent = |text: &str| read(&[ENDPOINT, ("TRACEPARENT", text)]).unwrap().unwrap().parent;
    assert_eq!(parent(sound).unwrap().parent, sound);
    for odd in [
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "x",
    ] {
        assert_eq!(parent(odd), None, "{odd}");
    }
}
