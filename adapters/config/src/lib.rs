//! Reads connector-sync configuration files (YAML or JSON) with positions
