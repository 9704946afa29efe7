//! What is always there: plain structs with verbs, folded from agent events, laid out, then drawn.
