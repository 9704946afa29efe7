//! `grep_search`

use serde_json::Value;

use super::{Context, Intent, Refusal, Tool};
use crate::session::Spec;

/// The tool `grep_search`.
pub struct GrepSearch;

impl Tool for GrepSearch {
    fn spec(&self) -> Spec {
        todo!()
    }

    fn intend(&self, _args: Value, _cx: &Context) -> Result<Intent, Refusal> {
        todo!()
    }
}
