//! Arguments out of JSON, with errors a model can act on.
