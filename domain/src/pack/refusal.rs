use crate::refusals;

refusals! {
    /// Why what a server publishes is no pack. Each names the entry.
    pub enum PackRefusal {
        /// Two entries have one URI.
        Duplicate { uri: String } => "pack_entry_duplicate", PeerMisbehaved, Never,
            "the server publishes `{uri}` twice", "give each entry a name of its own";
        /// No kind of entry has this scheme.
        Scheme { uri: String } => "pack_scheme_unknown", PeerMisbehaved, Never,
            "`{uri}` is of no kind that a pack holds", "serve it under a known scheme, or not as a resource";
        /// The body is not what its kind asks for.
        Malformed { uri: String, what: &'static str } => "pack_entry_malformed", PeerMisbehaved, Never,
            "`{uri}`: {what}", "correct the entry in the connector";
        /// An annotation that is not in the closed map, or contradicts a hint.
        Annotation { uri: String, what: &'static str } => "pack_annotation_invalid", PeerMisbehaved, Never,
            "the annotations of `{uri}`: {what}", "correct the annotations of the entry";
        /// More than a pack may hold.
        TooLarge { what: &'static str } => "pack_too_large", PeerMisbehaved, Never,
            "the pack has {what}", "publish less, or split the connector";
    }
}
