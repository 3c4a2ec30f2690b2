//! Hostile and faithful servers on loopback for the tests of every fetch path.
