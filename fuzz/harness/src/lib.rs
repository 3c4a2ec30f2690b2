//! Fuzz harness functions shared by cargo-fuzz targets and ordinary tests
