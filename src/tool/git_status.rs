//! `git_status`

use serde_json::Value;

use super::{Context, Intent, Refusal, Tool};
use crate::session::Spec;

/// The tool `git_status`.
pub struct GitStatus;

impl Tool for GitStatus {
    fn spec(&self) -> Spec {
        todo!()
    }

    fn intend(&self, _args: Value, _cx: &Context) -> Result<Intent, Refusal> {
        todo!()
    }
}
