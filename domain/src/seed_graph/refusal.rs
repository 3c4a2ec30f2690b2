use crate::refusals;

refusals! {
    /// Why there is no seed graph. Values are never repeated.
    pub enum SeedRefusal {
        /// No instance.
        Instance => "seed_instance_iri", CallerMistake, Never,
            "the instance IRI is blank or not an absolute IRI", "name the instance, for example https://desk.example/instances/eu";
        /// Something else that is not an IRI.
        Iri { place: String } => "seed_iri", CallerMistake, Never,
            "{place} is not an absolute IRI", "write a scheme and no blanks, quotes or brackets";
        /// A value that holds rows.
        Bulk { place: String } => "seed_bulk_data", CallerMistake, Never,
            "{place} holds data: a list, an object, or a text of more than 4096 characters", "leave records to the sources; a seed graph holds identity, catalog and references";
        /// More than a seed graph may hold.
        TooLarge { triples: usize, bytes: usize } => "seed_too_large", CallerMistake, Never,
            "the seed graph has {triples} triples and {bytes} bytes so far; at most 50000 and 8388608", "list fewer objects";
        /// The document is not one of a seed declaration.
        Member { path: String } => "seed_member", CallerMistake, Never,
            "{path} is unknown, missing or has the wrong type", "write instance_iri, identity, catalog and references";
    }
}
