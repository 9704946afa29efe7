//! Whether an intent may act: a pure function of mode, rules and proposal.

/// `tool(glob)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule;
/// Why a rule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError;
