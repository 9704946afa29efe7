//! `run_command`

use serde_json::Value;

use super::{Context, Intent, Refusal, Tool};
use crate::session::Spec;

/// The tool `run_command`.
pub struct RunCommand;

impl Tool for RunCommand {
    fn spec(&self) -> Spec {
        todo!()
    }

    fn intend(&self, _args: Value, _cx: &Context) -> Result<Intent, Refusal> {
        todo!()
    }
}
