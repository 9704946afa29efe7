//! `run_python_file`

use serde_json::Value;

use super::{Context, Intent, Refusal, Tool};
use crate::session::Spec;

/// The tool `run_python_file`.
pub struct RunPythonFile;

impl Tool for RunPythonFile {
    fn spec(&self) -> Spec {
        todo!()
    }

    fn intend(&self, _args: Value, _cx: &Context) -> Result<Intent, Refusal> {
        todo!()
    }
}
