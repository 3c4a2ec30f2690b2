//! The shipped test kit: port suites, vectors, simulation, spec report
