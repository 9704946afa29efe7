//! One test binary: what the rooms do together, and what the house as a whole holds to.

mod architecture;
mod processes;
mod providers;
mod support;
mod turns;
