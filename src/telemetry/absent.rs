//! In place of the recorder in a build without it: there is none.

use super::{Export, Peer, Settings};
use crate::config::ModelConfig;
use crate::domain::model::{ModelEvent, ModelRequest, ProviderError};
use crate::domain::{Call, CallId, Outcome, TraceContext, TurnEnd, TurnId, Usage, Warning};

/// Cannot be made.
#[derive(Debug)]
pub(super) enum Recorder {}

/// Says that this build sends no traces.
pub(super) fn begin(_: &Settings) -> Result<(Recorder, Export), Box<Warning>> {
    let advice = "Build it with the feature `telemetry`, or unset the OTEL_ variables.";
    Err(Box::new(super::off("this build was made without telemetry", advice)))
}

impl Recorder {
    pub(super) fn session(&mut self, _: &str) {
        match *self {}
    }
    pub(super) fn turn_started(&mut self, _: TurnId, _: &str) {
        match *self {}
    }
    pub(super) fn turn_ended(&mut self, _: TurnId, _: &TurnEnd, _: &Usage) {
        match *self {}
    }
    pub(super) fn model_asked(&mut self, _: TurnId, _: &ModelConfig, _: &ModelRequest) {
        match *self {}
    }
    pub(super) fn model_said(&mut self, _: TurnId, _: &ModelEvent) {
        match *self {}
    }
    pub(super) fn model_failed(&mut self, _: TurnId, _: &ProviderError) {
        match *self {}
    }
    pub(super) fn model_stopped(&mut self, _: TurnId) {
        match *self {}
    }
    pub(super) fn call_run(&mut self, _: &Call, _: &Peer) -> TraceContext {
        match *self {}
    }
    pub(super) fn call_done(&mut self, _: CallId, _: &Outcome) {
        match *self {}
    }
}
