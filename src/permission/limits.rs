//! Limits on how often a rule may let calls through (`maxCalls: 5/min`) and until when.
