//! Any things happening in any order.

use super::*;

/// One thing that can happen to a conversation.
#[derive(Debug, Clone)]
enum Step {
    Ask,
    Text(String),
    Reasoning(String),
    Call(u64, bool),
    Note,
    End,
    Go(Move),
    Click(u16),
    Size(u16, u16),
}

fn step() -> impl Strategy<Value = Step> {
    let moves = vec![
        Move::Rows(-3),
        Move::Rows(2),
        Move::Rows(i32::MIN),
        Move::Rows(i32::MAX),
        Move::Pages(-1),
        Move::Pages(1),
        Move::Top,
        Move::Bottom,
        Move::Previous,
        Move::Next,
        Move::Toggle,
        Move::Unselect,
    ];
    prop_oneof![
        1 => Just(Step::Ask),
        4 => "[a-z #|`\n-]{0,200}".prop_map(Step::Text),
        1 => "[a-z\n]{1,60}".prop_map(Step::Reasoning),
        2 => (0u64..4, any::<bool>()).prop_map(|(id, done)| Step::Call(id, done)),
        1 => Just(Step::Note),
        1 => Just(Step::End),
        6 => prop::sample::select(moves).prop_map(Step::Go),
        1 => (0u16..40).prop_map(Step::Click),
        1 => (0u16..70, 0u16..20).prop_map(|(width, height)| Step::Size(width, height)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_happens_the_end_can_be_reached_and_a_held_view_stays(
        steps in prop::collection::vec(step(), 0..60)
    ) {
        let mut scene = scene_with_banner();
        let mut size = (60, 12);
        for step in steps {
            match step {
                Step::Ask => scene.ask("a question"),
                Step::Text(text) => scene.text(&text),
                Step::Reasoning(chunk) => scene.apply(Notice::Reasoning { turn: TURN, chunk }),
                Step::Call(id, false) => scene.call(id, CallState::Running { progress: None }),
                Step::Call(id, true) => {
                    scene.call(id, done(Outcome::Ok(said(&numbered(20))), "x"))
                }
                Step::Note => { scene.conversation.note("a note"); &mut scene }
                Step::End => scene.end(TurnEnd::Cancelled),
                Step::Go(to) => scene.go(to),
                Step::Click(row) => { scene.conversation.click(row); &mut scene }
                Step::Size(width, height) => { size = (width, height); &mut scene }
            };
            scene.screen(size.0, size.1);
        }
        scene.ask("q").text(&numbered(30));
        scene.screen(60, 12);
        scene.go(Move::Pages(-2));
        let held = scene.screen(60, 12);
        scene.text("more\n\nand more\n\n");
        let rows = |screen: &str| screen.lines().take(11).map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(rows(&held), rows(&scene.screen(60, 12)));
        scene.go(Move::Bottom).text("THE END");
        prop_assert!(scene.screen(60, 12).contains("THE END"));
    }
}
