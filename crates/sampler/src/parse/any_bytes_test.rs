//! No parser panics, whatever it is given.
