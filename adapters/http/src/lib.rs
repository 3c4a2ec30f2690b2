//! The one outbound HTTP dialer: egress policy, TLS profiles, bounds.
