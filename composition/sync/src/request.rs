//! From a change set to the batch a sink commits.
