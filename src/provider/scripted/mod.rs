//! A model that plays a script: the demo, the tests and bug reports need no network and no key.
//!
//! `docs/scripted.md` is the reference of the script's format. Where a conversation stands in its
//! script is read from the conversation itself, so a resumed session goes on where it stopped.

mod play;
mod script;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::BoxStream;

pub use script::{Script, ScriptError};

use super::{Delta, Provider, ProviderError, Request};
use play::Scene;

/// The provider's name in `PROVIDER/MODEL`.
pub const NAME: &str = "scripted";

/// How fast a script is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// About as fast as a hosted model writes.
    #[default]
    Realistic,
    /// Without any wait, for tests and for output that nobody watches.
    Instant,
}

/// A script as a [`Provider`].
#[derive(Debug, Clone)]
pub struct Scripted {
    script: Arc<Script>,
    pace: Pace,
    faults: Arc<Mutex<Faults>>,
}

/// How often the fault of a scene was played. The only thing that a restart forgets.
type Faults = HashMap<Scene, u32>;

impl Scripted {
    /// Makes a model of a script.
    pub fn new(script: Script, pace: Pace) -> Self {
        Self { script: Arc::new(script), pace, faults: Arc::default() }
    }

    /// Returns whether the fault of this scene is still due, and counts it.
    fn fault_is_due(&self, scene: Scene, times: u32) -> bool {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let played = faults.entry(scene).or_default();
        *played += 1;
        *played <= times
    }
}

impl Provider for Scripted {
    fn name(&self) -> &'static str {
        NAME
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let steps = self.script.steps(request.role);
        let scene = Scene::find(steps, &request);
        let step = scene.step.map(|index| &steps[index]);
        let fault = step
            .and_then(|step| step.fault.as_ref())
            .filter(|fault| self.fault_is_due(scene, fault.times));
        play::stream(play::beats(step, fault, &request), self.pace)
    }
}

#[cfg(test)]
mod tests;
