//! Faults that users reported of comparable programs: every file under `tests/cases`.

mod llm;
