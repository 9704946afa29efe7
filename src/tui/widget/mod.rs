//! Draws plain data: text, markdown, code and diffs as styled lines. Knows nothing of panes, events or the agent.

mod caret;
mod diff;
mod highlight;
mod markdown;
mod table;
mod wrap;

pub use caret::caret;
pub use diff::{DiffRows, Layout, Remark, Spot, Window, about_itself, diff_lines};
pub use highlight::{Colouring, Highlighter};
pub use markdown::Markdown;
pub use wrap::{clip, hard_wrapped, width, wrap, wrapped};
