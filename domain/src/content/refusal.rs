use crate::json::JsonRefusal;
use crate::refusals;

refusals! {
    /// Why content is not taken. Each names the file, and the field or the line where there is one.
    pub enum ContentRefusal {
        /// The contract over everything the connector has cannot be written; `code` is the code of its refusal.
        Contract { code: &'static str } => "content_contract", CallerMistake, Never,
            "the contract of the connector cannot be written ({code})", "see the code for what to do";
        /// The package itself is not a folder.
        NoPackage => "content_package_missing", CallerMistake, Never,
            "the connector's package is not a readable folder", "name the folder that holds the connector's Cargo.toml";
        /// Something else stands where a folder of content belongs.
        NotAFolder { name: &'static str } => "content_not_a_folder", CallerMistake, Never,
            "`{name}` in the connector's package is not a folder of its own", "make it a folder, not a file or a link";
        /// The content root is not a folder below the package.
        Root => "content_root_invalid", CallerMistake, Never,
            "content_root is not a folder below the package", "write a relative path without `..`, such as content";
        /// A name that cannot be part of a URI as it is.
        Path { path: String } => "content_path_invalid", CallerMistake, Never,
            "`{path}` is not a path that content can have", "use letters, digits, `.`, `_`, `-` and `~` in names of files and folders";
        /// A link.
        Link { path: String } => "content_link", CallerMistake, Never,
            "`{path}` is a link, and a link can lead out of the content", "put the file itself there";
        /// The system does not give the file out.
        Unreadable { path: String } => "content_unreadable", Unavailable, Later,
            "`{path}` cannot be read", "check its permissions";
        /// More than is taken.
        TooMany { what: &'static str, limit: usize } => "content_too_many", CallerMistake, Never,
            "there are more than {limit} {what}", "split the connector, or leave out what is not content";
        /// A file, or all of them together, are larger than is taken.
        TooLarge { file: String, limit: usize } => "content_too_large", CallerMistake, Never,
            "`{file}` has more than {limit} bytes", "shorten it";
        /// A file that nothing is served from.
        Unexpected { file: String, wanted: &'static str } => "content_unexpected_file", CallerMistake, Never,
            "`{file}` is not content; here belongs {wanted}", "move or rename it; hidden files and README.md are left alone";
        /// Bytes that are not text.
        NotUtf8 { file: String, line: usize } => "content_not_utf8", CallerMistake, Never,
            "line {line} of `{file}` is not UTF-8", "save it as UTF-8";
        /// A carriage return, or a byte order mark.
        LineEnds { file: String, line: usize } => "content_line_ends", CallerMistake, Never,
            "line {line} of `{file}` has a carriage return or a byte order mark", "save it with LF line ends and without a mark";
        /// The front matter of a skill is not there or not readable.
        FrontMatter { file: String, line: usize, what: String } => "content_front_matter", CallerMistake, Never,
            "line {line} of `{file}`: {what}", "begin the file with `---`, `name: …`, `description: …`, `---`";
        /// A field that is missing or breaks its rule.
        Field { file: String, field: String, rule: &'static str } => "content_field", CallerMistake, Never,
            "{field} in `{file}` {rule}", "correct the field";
        /// Not JSON.
        NotJson { file: String, refusal: JsonRefusal } => "content_not_json", CallerMistake, Never,
            "`{file}`: {refusal}", "write one JSON object";
        /// Not Turtle.
        Turtle { file: String, line: u64, column: u64 } => "content_turtle", CallerMistake, Never,
            "`{file}` is not Turtle at line {line}, column {column}", "correct the statement there";
        /// No `owl:Ontology` in an ontology.
        NoOntology { file: String } => "content_ontology_undeclared", CallerMistake, Never,
            "`{file}` declares no owl:Ontology", "add `<…> a owl:Ontology`";
        /// The ontology does not import its parent.
        NoParentImport { file: String } => "content_parent_import_missing", CallerMistake, Never,
            "the ontology of `{file}` does not import http://knuckles.team/kg", "add `owl:imports <http://knuckles.team/kg>`";
        /// A class without a way up.
        UnlinkedClass { file: String, class: String } => "content_class_unlinked", CallerMistake, Never,
            "the class {class} of `{file}` reaches no class of http://knuckles.team/kg", "make it rdfs:subClassOf a class of the parent, directly or through others";
        /// A seed graph that cannot be written.
        Seed { refusal: crate::seed_graph::SeedRefusal } => "content_seed", CallerMistake, Never,
            "seed graph: {refusal}", "correct the seed declaration";
        /// A data resource that cannot be declared so. `code` is the code of the refusal behind it.
        DataResource { code: &'static str, refusal: crate::declaration::descriptor::DescriptorRefusal } => "content_data_resource", CallerMistake, Never,
            "{refusal} ({code})", "correct the declaration of the data resource";
        /// Content put in place of other content for a surface that has none.
        NotServed => "content_not_served", CallerMistake, Never,
            "this connector was built without content", "give the connector its content before it is built";
    }
}

impl From<crate::seed_graph::SeedRefusal> for ContentRefusal {
    fn from(refusal: crate::seed_graph::SeedRefusal) -> Self {
        Self::Seed { refusal }
    }
}

impl From<crate::declaration::descriptor::DescriptorRefusal> for ContentRefusal {
    fn from(refusal: crate::declaration::descriptor::DescriptorRefusal) -> Self {
        let code = crate::refusal::Refusal::code(&refusal);
        Self::DataResource { code, refusal }
    }
}
