//! Models, windows and prices.
