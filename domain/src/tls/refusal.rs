use crate::refusals;

refusals! {
    /// Why TLS profiles are not usable as they are written.
    pub enum TlsRefusal {
        /// A name outside `[a-z0-9][a-z0-9_.-]{0,63}`, or one that is taken.
        Name => "tls_profile_name", CallerMistake, Never,
            "a TLS profile has a bad or repeated name", "use 1 to 64 of a-z, 0-9, '.', '_' and '-', each name once";
        /// More than 64 profiles.
        TooMany { limit: usize } => "tls_profile_count", CallerMistake, Never,
            "there are more than {limit} TLS profiles", "remove those that nobody selects";
        /// Material that is neither an absolute path nor a reference. The text is not repeated: it may be a key.
        Material => "tls_profile_material", CallerMistake, Never,
            "TLS material is neither an absolute path nor a secret reference",
            "write /path/to/file.pem or a reference such as env://NAME; never the material itself";
        /// Neither the platform's roots nor a CA.
        NoRoots => "tls_profile_no_roots", CallerMistake, Never,
            "a TLS profile trusts nobody", "name a ca, or keep platform_roots";
        /// A client certificate without a key, or the other way round.
        HalfIdentity => "tls_profile_half_identity", CallerMistake, Never,
            "a TLS profile has a client certificate without a key or a key without a certificate",
            "name both client_certificate and client_key";
        /// Nobody configured a profile of this name.
        Unknown { name: String } => "tls_profile_unknown", CallerMistake, Never,
            "there is no TLS profile named {name}", "configure the profile, or fix its name";
    }
}
