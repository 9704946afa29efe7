//! Stands in until the overlay itself lands.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::{Overlay, Reaction, framed};
use crate::agent::{AgentRequest, Approval, Verdict};
use crate::tui::effect::Effect;
use crate::tui::theme::Theme;

/// To come.
#[derive(Debug)]
pub struct RunApproval(Option<Approval>);

impl RunApproval {
    pub fn of(approval: Approval) -> Self {
        Self(Some(approval))
    }
    pub fn read_only(_files: Vec<crate::workspace::FileDiff>) -> Self {
        Self(None)
    }
}

impl Overlay for RunApproval {
    fn key(&mut self, key: KeyEvent) -> Reaction {
        let Some(approval) = &self.0 else { return Reaction::Close };
        let verdict = match key.code {
            KeyCode::Char('y') => Verdict::Accept,
            KeyCode::Char('n') => Verdict::Reject { comment: None },
            KeyCode::Esc => Verdict::Stop,
            _ => return Reaction::Ignored,
        };
        let call = approval.call.clone();
        let effects = vec![Effect::Send(AgentRequest::Answer { call, verdict })];
        Reaction::Effects { close: true, effects }
    }

    fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        framed(frame, area, " Approve? y n Esc ", theme);
    }
}
