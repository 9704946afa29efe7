//! `write_file`

use serde_json::Value;

use super::{Context, Intent, Refusal, Tool};
use crate::session::Spec;

/// The tool `write_file`.
pub struct WriteFile;

impl Tool for WriteFile {
    fn spec(&self) -> Spec {
        todo!()
    }

    fn intend(&self, _args: Value, _cx: &Context) -> Result<Intent, Refusal> {
        todo!()
    }
}
