//! One change set of a connector becomes one governed commit.
