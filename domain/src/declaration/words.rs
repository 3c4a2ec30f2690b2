//! The words a declaration uses for its choices.

use super::members::Words;
use super::{EvolutionPolicy, PageKind, PaginationMode, ParamsStyle, PresetPagination, RecordMode};

pub(super) const SOURCE_PAGINATION: Words<PaginationMode> =
    Words { list: "none, page", pairs: &[("none", PaginationMode::None), ("page", PaginationMode::Page)] };

pub(super) const PRESET_PAGINATION: Words<PresetPagination> = Words {
    list: "none, cursor, page, offset",
    pairs: &[
        ("none", PresetPagination::None),
        ("cursor", PresetPagination::Cursor),
        ("page", PresetPagination::Page),
        ("offset", PresetPagination::Offset),
    ],
};

pub(super) const PARAMS_STYLE: Words<ParamsStyle> =
    Words { list: "json, args", pairs: &[("json", ParamsStyle::Json), ("args", ParamsStyle::Args)] };

pub(super) const PAGE_KIND: Words<PageKind> =
    Words { list: "number, offset", pairs: &[("number", PageKind::Number), ("offset", PageKind::Offset)] };

pub(super) const RECORD_MODE: Words<RecordMode> = Words {
    list: "documents, typed_entities",
    pairs: &[("documents", RecordMode::Documents), ("typed_entities", RecordMode::TypedEntities)],
};

pub(super) const EVOLUTION_POLICY: Words<EvolutionPolicy> = Words {
    list: "review, optional_fields",
    pairs: &[("review", EvolutionPolicy::Review), ("optional_fields", EvolutionPolicy::OptionalFields)],
};
