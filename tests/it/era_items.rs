//! The protocol, item by item: which tests hold each. What is in no row stands in the table of
//! `src/mcp.rs` with the reason why it is not built. Cases are tests too: the drivers hold them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many items each part of the digest has.
const PARTS: [(char, usize); 22] = [
    ('E', 15),
    ('H', 16),
    ('X', 6),
    ('S', 11),
    ('T', 15),
    ('J', 11),
    ('G', 13),
    ('P', 7),
    ('R', 10),
    ('U', 6),
    ('C', 5),
    ('N', 4),
    ('D', 17),
    ('O', 5),
    ('Q', 2),
    ('K', 2),
    ('I', 9),
    ('V', 4),
    ('W', 1),
    ('Y', 8),
    ('Z', 2),
    ('F', 9),
];

/// Item and the names of tests, which are in `src` or `tests/it`.
const HELD: &[(&str, &str)] = &[
    ("E1", "a_modern_server_is_agreed_with_in_one_exchange"),
    ("E2", "client_errors_without_a_modern_code_mean_legacy_and_so_does_a_crash"),
    ("E3", "modern_errors_never_fall_back"),
    ("E4", "client_errors_without_a_modern_code_mean_legacy_and_so_does_a_crash"),
    (
        "E5",
        "a_remembered_legacy_server_is_not_probed a_wrong_memory_heals_itself_within_one_connection a_server_that_does_not_answer_as_remembered_is_probed_the_next_time a_modern_endpoint_that_is_gone_is_probed_again",
    ),
    (
        "E6",
        "an_unsupported_version_is_corrected_at_most_twice a_server_that_speaks_none_of_our_versions_is_refused_by_name",
    ),
    (
        "E7",
        "a_subscription_that_is_refused_is_asked_for_once resources_without_a_request_for_templates_are_no_fault",
    ),
    ("E8", "a_modern_refusal_of_initialize_names_the_versions_and_is_asked_again_later"),
    (
        "E9",
        "method_not_found_means_legacy_even_with_a_passing_status any_other_success_means_legacy",
    ),
    (
        "E10",
        "a_discover_result_needs_versions_and_capabilities_and_nothing_else any_other_success_means_legacy",
    ),
    ("E11", "a_probe_refused_for_its_version_is_sent_again_with_the_same_one"),
    ("E12", "client_errors_without_a_modern_code_mean_legacy_and_so_does_a_crash"),
    (
        "E13",
        "a_key_tells_endpoints_queries_and_header_names_apart_and_holds_no_secret the_memory_outlives_the_run_and_is_kept_for_each_endpoint_and_query a_forced_legacy_version_is_not_probed",
    ),
    ("E14", "a_modern_server_is_discovered_listed_and_called_without_a_session"),
    (
        "E15",
        "initialize_accepts_every_legacy_version_and_remarks_on_an_older_one an_unknown_version_is_refused_and_named",
    ),
    ("H1", "every_message_is_one_object_in_a_post_of_its_own_with_the_headers_it_needs"),
    ("H2", "every_message_is_one_object_in_a_post_of_its_own_with_the_headers_it_needs"),
    ("H3", "every_message_is_one_object_in_a_post_of_its_own_with_the_headers_it_needs"),
    (
        "H4",
        "every_message_is_one_object_in_a_post_of_its_own_with_the_headers_it_needs a_request_on_a_modern_stream_is_told_and_not_answered",
    ),
    ("H5", "every_message_is_one_object_in_a_post_of_its_own_with_the_headers_it_needs"),
    (
        "H6",
        "names_of_headers_count_in_any_case_and_their_values_as_they_are every_scripted_server_is_handled_as_it_should",
    ),
    ("H7", "an_acknowledgement_may_be_any_success_with_any_body"),
    ("H8", "every_message_is_one_object_in_a_post_of_its_own_with_the_headers_it_needs"),
    ("H9", "session_and_version_travel_with_everything_after_initialize"),
    ("H10", "names_of_headers_count_in_any_case_and_their_values_as_they_are"),
    (
        "H11",
        "values_travel_bare_where_they_can_and_in_base64_where_not every_value_survives_the_way_through_a_header",
    ),
    ("H12", "arguments_are_mirrored_by_type_and_absent_or_null_ones_are_not"),
    (
        "H13",
        "only_what_surely_was_not_processed_is_not_sent a_call_that_a_busy_server_did_not_look_at_is_sent_again_when_it_says a_lost_answer_is_asked_for_again",
    ),
    (
        "H14",
        "a_redirect_on_the_origin_is_followed_and_one_to_another_is_not an_origin_is_scheme_host_and_port",
    ),
    ("H15", "an_error_without_an_id_ends_the_request_it_answers"),
    (
        "H16",
        "odd_answers_are_named_and_never_taken_for_an_empty_success an_answer_with_another_media_type_is_told_once_and_not_taken",
    ),
    (
        "X1",
        "a_modern_server_is_discovered_listed_and_called_without_a_session annotated_properties_are_found_nested_ones_too",
    ),
    ("X2", "arguments_are_mirrored_by_type_and_absent_or_null_ones_are_not"),
    (
        "X3",
        "a_broken_annotation_costs_the_tool a_tool_with_a_broken_header_annotation_is_dropped_alone",
    ),
    ("X4", "an_integer_that_readers_would_round_is_refused"),
    ("X5", "a_header_mismatch_lists_again_and_sends_once_more"),
    ("X6", "mirrored_arguments_are_bounded_and_the_limit_is_named"),
    (
        "S1",
        "only_one_leading_byte_order_mark_is_dropped bytes_that_are_not_utf8_become_replacement_characters any_split_of_the_bytes_gives_the_same_events",
    ),
    (
        "S2",
        "cr_lf_and_crlf_all_end_a_line a_line_end_cut_between_cr_and_lf_is_one_line_end a_line_that_ends_in_cr_is_handled_without_waiting_for_lf",
    ),
    (
        "S3",
        "comments_and_unknown_fields_are_passed_over one_space_after_the_colon_is_dropped_and_no_more",
    ),
    ("S4", "an_id_with_nul_is_ignored retry_takes_digits_only"),
    (
        "S5",
        "an_event_without_a_data_line_is_none_and_forgets_its_type an_id_stays_until_another_comes_and_an_empty_one_resets_it an_id_counts_once_its_event_is_dispatched_even_without_data",
    ),
    ("S6", "an_empty_data_line_is_an_event_and_carries_id_and_retry"),
    (
        "S7",
        "an_unfinished_event_is_no_event_but_is_handed_back an_answer_whose_line_has_no_end_is_not_taken",
    ),
    ("S8", "what_is_not_the_answer_on_a_stream_is_passed_over"),
    (
        "S9",
        "an_event_over_the_limit_is_an_error_that_names_it_and_the_last_thing_said an_event_larger_than_the_limit_is_an_error_that_names_it what_is_not_the_answer_on_a_stream_is_passed_over",
    ),
    ("S10", "each_stream_is_resumed_after_its_own_last_event"),
    ("S11", "any_sign_of_life_starts_the_silence_anew_a_comment_too"),
    ("T1", "a_request_on_a_modern_stream_is_told_and_not_answered"),
    ("T2", "a_modern_stream_that_breaks_off_is_not_resumed_whatever_it_says"),
    ("T3", "nothing_is_waited_for_after_the_answer"),
    (
        "T4",
        "cancelling_closes_the_stream_and_sends_nothing cancelling_works_before_the_head_of_the_answer",
    ),
    ("T5", "requests_of_the_server_are_answered_in_posts_of_their_own"),
    (
        "T6",
        "question_on_the_standing_stream_is_answered_in_a_post_of_its_own a_standing_stream_that_is_none_is_asked_for_once",
    ),
    ("T7", "the_standing_stream_is_open_before_the_first_call"),
    (
        "T8",
        "cancelling_sends_a_notice_and_does_not_wait_for_the_stream a_question_that_is_given_up_is_withdrawn_by_a_notice_or_by_closing",
    ),
    ("T9", "a_broken_stream_is_resumed_after_its_last_event"),
    ("T10", "a_stream_is_resumed_after_the_wait_that_the_server_asks_for_as_often_as_it_closes"),
    (
        "T11",
        "a_stream_is_resumed_after_the_wait_that_the_server_asks_for_as_often_as_it_closes a_standing_stream_whose_session_was_forgotten_makes_the_connection_anew",
    ),
    ("T12", "an_answer_cut_in_the_middle_makes_the_call_unknown"),
    ("T13", "each_stream_is_resumed_after_its_own_last_event"),
    (
        "T14",
        "answer_on_another_stream_is_taken_by_its_id reconnecting_by_hand_keeps_the_old_stream_until_its_calls_have_ended",
    ),
    (
        "T15",
        "each_stream_is_resumed_after_its_own_last_event a_server_that_goes_away_is_missed_by_its_stream_and_found_again",
    ),
    (
        "J1",
        "every_message_is_one_object_in_a_post_of_its_own_with_the_headers_it_needs messages_without_the_version_are_taken_and_told",
    ),
    ("J2", "every_message_is_one_object_in_a_post_of_its_own_with_the_headers_it_needs"),
    ("J3", "ids_match_by_value_as_text_and_as_integral_float"),
    ("J4", "neither_or_both_of_result_and_error_is_no_message_but_keeps_the_id"),
    ("J5", "what_is_not_the_answer_on_a_stream_is_passed_over"),
    ("J6", "what_is_not_the_answer_on_a_stream_is_passed_over"),
    (
        "J7",
        "arrays_are_taken_apart_and_bad_items_stay_alone ids_given_back_as_text_and_batches_are_understood",
    ),
    (
        "J8",
        "a_definition_keeps_its_schema_and_unknown_members_verbatim every_kind_of_content_is_read_and_the_unknown_is_kept a_status_that_is_not_known_goes_on_and_what_is_no_task_is_an_error",
    ),
    (
        "J9",
        "a_tool_that_failed_is_a_tool_error_and_so_is_an_error_answer what_was_not_declared_is_refused_with_the_right_code",
    ),
    ("J10", "repeated_request_is_put_and_answered_once a_request_keeps_its_id_as_it_came"),
    ("J11", "numbers_are_kept_and_the_last_key_counts"),
    ("G1", "a_legacy_server_is_found_initialized_listed_and_called"),
    ("G2", "nothing_is_asked_before_the_server_took_the_notice_that_it_is_initialized"),
    ("G3", "what_is_not_declared_is_not_asked_for"),
    (
        "G4",
        "a_session_id_that_none_may_be_is_told_and_not_sent session_and_version_travel_with_everything_after_initialize",
    ),
    (
        "G5",
        "quitting_settles_calls_and_does_not_wait_for_a_server_that_hangs reconnecting_by_hand_ends_the_old_session",
    ),
    ("G6", "requests_of_the_server_are_answered_in_posts_of_their_own"),
    ("G7", "requests_of_the_server_are_answered_in_posts_of_their_own"),
    ("G8", "what_was_not_declared_is_refused_with_the_right_code"),
    ("G9", "question_that_the_server_withdraws_is_closed_and_not_answered"),
    (
        "G10",
        "silence_makes_the_call_unknown_and_it_is_called_off a_call_never_takes_longer_than_its_limit a_question_that_is_given_up_is_withdrawn_by_a_notice_or_by_closing",
    ),
    ("G11", "a_legacy_server_that_logs_is_asked_for_log_messages_once"),
    ("G12", "a_refused_initialize_is_sent_again_once_with_a_version_both_speak"),
    (
        "G13",
        "only_what_can_be_answered_is_declared version_that_knows_no_elicitation_is_told_nothing_of_it",
    ),
    ("P1", "a_modern_server_is_discovered_listed_and_called_without_a_session"),
    ("P2", "nothing_is_declared_or_asked_where_nobody_is_there"),
    ("P3", "a_modern_server_is_discovered_listed_and_called_without_a_session"),
    ("P4", "a_definition_keeps_its_schema_and_unknown_members_verbatim"),
    ("P5", "a_discover_result_needs_versions_and_capabilities_and_nothing_else"),
    (
        "P6",
        "a_list_of_another_type_is_no_list a_modern_result_of_another_type_is_not_taken_for_an_empty_one a_result_of_another_type_is_no_answer",
    ),
    ("P7", "another_call_meanwhile_carries_nothing_of_it"),
    ("R1", "state_is_kept_as_it_is_and_absence_is_not_emptiness"),
    (
        "R2",
        "all_questions_of_a_round_are_answered_before_it_goes_on state_alone_is_sent_back_without_asking_anybody",
    ),
    (
        "R3",
        "answer_and_state_go_back_as_a_new_request_with_the_same_parameters input_that_a_prompt_needs_is_asked_of_the_user_and_sent_along",
    ),
    (
        "R4",
        "answer_and_state_go_back_as_a_new_request_with_the_same_parameters no_state_is_sent_where_there_was_none_and_a_refusal_is_an_answer",
    ),
    ("R5", "another_call_meanwhile_carries_nothing_of_it"),
    (
        "R6",
        "what_was_not_declared_ends_the_call_with_the_reason what_was_not_offered_ends_the_request_with_the_reason",
    ),
    ("R7", "no_state_is_sent_where_there_was_none_and_a_refusal_is_an_answer"),
    (
        "R8",
        "server_that_asks_for_ever_is_stopped_after_ten_rounds cancelling_while_the_user_is_asked_closes_the_question_and_sends_nothing",
    ),
    ("R9", "what_took_an_answer_of_the_user_is_not_kept_and_the_question_names_its_server"),
    ("R10", "what_took_an_answer_of_the_user_is_not_kept_and_the_question_names_its_server"),
    (
        "U1",
        "another_resource_opens_a_subscription_to_all_of_them_before_the_old_one_is_closed a_server_that_tells_of_changes_is_subscribed_to_and_listed_again",
    ),
    ("U2", "news_before_the_acknowledgement_or_of_another_subscription_are_taken_and_told"),
    ("U3", "news_before_the_acknowledgement_or_of_another_subscription_are_taken_and_told"),
    ("U4", "a_subscription_that_ends_in_any_way_is_opened_anew_and_what_was_missed_is_fetched"),
    ("U5", "another_resource_opens_a_subscription_to_all_of_them_before_the_old_one_is_closed"),
    (
        "U6",
        "a_subscription_that_is_refused_is_asked_for_once a_stale_list_of_a_server_that_tells_of_no_changes_is_fetched_at_the_next_call",
    ),
    ("C1", "a_missing_or_odd_time_to_live_is_none"),
    (
        "C2",
        "a_fresh_answer_is_not_asked_for_again_until_a_notice_says_so a_stale_list_of_a_server_that_tells_of_no_changes_is_fetched_at_the_next_call",
    ),
    ("C3", "an_answer_serves_the_same_question_and_only_while_it_is_fresh"),
    ("C4", "a_notification_makes_what_it_concerns_stale_at_once"),
    ("C5", "a_cursor_that_is_refused_starts_the_list_over_once"),
    (
        "N1",
        "a_modern_server_answers_all_and_names_travel_in_headers items_are_read_over_pages_and_a_bad_one_goes_alone",
    ),
    (
        "N2",
        "an_empty_cursor_is_followed_and_a_repeated_one_is_not only_an_absent_cursor_ends_the_list",
    ),
    ("N3", "a_cursor_that_is_refused_starts_the_list_over_once"),
    (
        "N4",
        "a_cursor_that_repeats_is_told_and_what_was_read_is_kept every_walk_ends too_many_tools_stop_the_walk_and_the_limit_is_named",
    ),
    ("D1", "every_list_of_tools_is_offered_as_it_should"),
    ("D2", "every_list_of_tools_is_offered_as_it_should"),
    ("D3", "a_definition_keeps_its_schema_and_unknown_members_verbatim"),
    (
        "D4",
        "a_definition_keeps_its_schema_and_unknown_members_verbatim every_config_does_what_it_should",
    ),
    ("D5", "a_definition_keeps_its_schema_and_unknown_members_verbatim"),
    ("D6", "sloppy_schemas_still_check_what_they_can"),
    (
        "D7",
        "references_that_lead_nowhere_accept_anything_and_fetch_nothing schemas_that_are_none_are_noted_once_for_each_kind",
    ),
    (
        "D8",
        "runaway_pattern_ends schemas_that_multiply_end hostile_schemas_are_survived faulty_schemas_are_named",
    ),
    ("D9", "a_structured_result_that_does_not_fit_is_a_remark_and_a_warning"),
    ("D10", "a_definition_keeps_its_schema_and_unknown_members_verbatim"),
    ("D11", "a_malformed_tool_goes_alone_and_with_a_reason"),
    (
        "D12",
        "a_modern_server_is_discovered_listed_and_called_without_a_session arguments_are_sent_as_they_fit_or_not_at_all",
    ),
    ("D13", "structured_null_is_not_the_same_as_absent"),
    ("D14", "every_kind_of_content_is_read_and_the_unknown_is_kept"),
    ("D15", "a_tool_that_failed_is_a_tool_error_and_so_is_an_error_answer"),
    ("D16", "a_structured_result_is_shown_unless_the_text_says_the_same"),
    (
        "D17",
        "a_long_result_shows_its_beginning_its_end_and_exact_figures a_call_never_takes_longer_than_its_limit",
    ),
    (
        "O1",
        "a_modern_server_answers_all_and_names_travel_in_headers a_legacy_server_answers_all_without_those_headers",
    ),
    ("O2", "a_template_takes_values_and_refuses_those_it_does_not_know"),
    (
        "O3",
        "a_modern_server_answers_all_and_names_travel_in_headers a_legacy_server_answers_all_without_those_headers several_parts_stand_under_their_addresses_and_none_is_said",
    ),
    ("O4", "a_resource_that_was_read_is_subscribed_to_once_and_again_on_a_new_connection"),
    ("O5", "a_template_takes_values_and_refuses_those_it_does_not_know"),
    (
        "Q1",
        "a_modern_server_answers_all_and_names_travel_in_headers arguments_of_a_prompt_are_required_only_where_it_says_so",
    ),
    (
        "Q2",
        "input_that_a_prompt_needs_is_asked_of_the_user_and_sent_along a_modern_server_answers_all_and_names_travel_in_headers",
    ),
    ("K1", "a_modern_server_answers_all_and_names_travel_in_headers"),
    ("K2", "a_completion_that_is_overtaken_is_given_up"),
    ("I1", "a_form_needs_no_mode_and_a_page_needs_to_be_declared"),
    (
        "I2",
        "choices_are_read_in_every_way_they_are_written what_is_no_flat_form_says_so a_schema_that_is_no_form_can_only_be_declined",
    ),
    (
        "I3",
        "untouched_fields_keep_their_defaults_with_their_types answer_is_filled_with_defaults_and_told_to_be_over",
    ),
    (
        "I4",
        "optional_field_without_default_is_left_out_and_a_required_one_is_missed answer_that_does_not_fit_is_no_answer",
    ),
    ("I5", "no_state_is_sent_where_there_was_none_and_a_refusal_is_an_answer"),
    (
        "I6",
        "a_form_that_asks_for_a_password_is_warned_of letters_answer_only_once_the_fields_are_left",
    ),
    (
        "I7",
        "a_page_is_opened_only_by_its_key_and_together_with_the_consent nothing_is_agreed_to_before_the_whole_address_was_shown doubtful_pages_are_warned_of",
    ),
    (
        "I8",
        "pages_that_are_required_are_opened_first_and_the_call_is_sent_again_when_they_are_done",
    ),
    ("I9", "further_questions_wait_until_one_is_answered"),
    (
        "V1",
        "what_was_not_declared_is_refused_with_the_right_code requests_of_the_server_are_answered_in_posts_of_their_own",
    ),
    (
        "V4",
        "progress_and_log_notices_reach_the_call a_log_message_outside_any_call_is_passed_on_with_its_level",
    ),
    (
        "W1",
        "instructions_are_cut_at_their_limit_between_characters a_request_offers_what_is_usable_and_says_whose_instructions_they_are",
    ),
    ("Y1", "a_malformed_tool_goes_alone_and_with_a_reason"),
    ("Y4", "a_task_is_looked_at_until_it_is_done_and_its_result_is_the_calls"),
    (
        "Y5",
        "a_task_is_looked_at_no_faster_than_its_server_asks_for_and_no_longer_than_allowed every_end_of_a_task_is_an_outcome_of_the_call",
    ),
    (
        "Y6",
        "input_for_a_task_is_asked_once_and_sent_by_an_update a_cancelled_task_is_cancelled_by_a_request_and_never_by_a_notice",
    ),
    (
        "Y7",
        "news_of_a_task_make_further_looks_needless a_server_without_news_of_tasks_is_asked_for_them_once a_task_that_the_server_forgot_may_have_run",
    ),
    (
        "Z1",
        "a_modern_result_of_another_type_is_not_taken_for_an_empty_one a_task_is_looked_at_until_it_is_done_and_its_result_is_the_calls",
    ),
    (
        "F1",
        "a_call_that_needs_asking_is_asked_about_and_run_once_it_is_allowed hostile_arguments_are_shown_as_they_are_sent",
    ),
    (
        "F2",
        "a_grant_does_not_cover_a_definition_that_changed a_result_is_marked_as_data_from_its_server",
    ),
    (
        "F3",
        "what_a_server_repeats_of_secrets_is_not_told a_redirect_on_the_origin_is_followed_and_one_to_another_is_not",
    ),
    ("F6", "what_is_no_page_cannot_be_agreed_to doubtful_pages_are_warned_of"),
    (
        "F7",
        "a_server_without_tls_behind_https_fails_at_that_stage every_config_does_what_it_should",
    ),
    (
        "F8",
        "a_key_tells_endpoints_queries_and_header_names_apart_and_holds_no_secret every_scripted_server_is_handled_as_it_should",
    ),
    (
        "F9",
        "a_list_is_bounded_in_number_and_size_and_names_the_limit faults_say_what_is_wrong_without_quoting the_cache_is_bounded_and_what_ends_first_goes_first",
    ),
];

fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, all);
        } else if entry.extension().is_some_and(|kind| kind == "rs") {
            all.push_str(&std::fs::read_to_string(entry).unwrap());
        }
    }
}

/// Names of functions right behind an attribute that makes them tests.
fn tests() -> BTreeSet<String> {
    let mut all = String::new();
    for folder in ["src", "tests/it"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut all);
    }
    let mut found = BTreeSet::new();
    for part in all.split("#[").filter(|part| {
        part.starts_with("test]")
            || part.starts_with("tokio::test")
            || part.contains("proptest_config(")
    }) {
        let name = part.split_once("fn ").and_then(|(_, rest)| rest.split(['(', '<']).next());
        found.extend(name.map(str::to_owned));
    }
    found
}

/// Items of the table in the documentation of the client, and what of each is meant.
fn left_out() -> BTreeMap<String, String> {
    let source = include_str!("../../src/mcp.rs");
    let rows = source.lines().filter_map(|line| line.strip_prefix("//! | "));
    rows.filter_map(|row| {
        let (item, _) = row.split_once(" | ")?;
        let (item, part) = item.split_once(' ').unwrap_or((item, ""));
        item.ends_with(|c: char| c.is_ascii_digit()).then(|| (item.to_owned(), part.to_owned()))
    })
    .collect()
}

#[test]
fn every_item_of_the_protocol_is_held_by_a_test_or_left_out_with_a_reason() {
    let (tests, left_out) = (tests(), left_out());
    let mut faults = Vec::new();
    let held: BTreeMap<&str, &str> = HELD.iter().copied().collect();
    assert_eq!(held.len(), HELD.len(), "an item has two rows");
    let items =
        PARTS.iter().flat_map(|(part, count)| (1..=*count).map(move |n| format!("{part}{n}")));
    let items: BTreeSet<String> = items.collect();
    for item in &items {
        match (held.get(item.as_str()), left_out.get(item)) {
            (None, None) => faults.push(format!("{item} is nowhere")),
            (Some(_), Some(part)) if part.is_empty() => {
                faults.push(format!("{item} is held and left out"));
            }
            (None, Some(part)) if !part.is_empty() => {
                faults.push(format!("{item} is left out in part, and the rest is not held"));
            }
            _ => {}
        }
    }
    let known = held.keys().map(|item| (*item).to_owned()).chain(left_out.keys().cloned());
    faults.extend(
        known.filter(|item| !items.contains(item)).map(|item| format!("{item} is no item")),
    );
    for (item, names) in HELD {
        for name in names.split(' ').filter(|name| !tests.contains(*name)) {
            faults.push(format!("{item}: there is no test {name}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
