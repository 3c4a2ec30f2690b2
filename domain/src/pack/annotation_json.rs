//! The closed map of annotations as JSON, and what a listed entry declares of it.

use std::collections::BTreeSet;

use super::archive::MAX_LIST;
use super::{MeasuredFact, ModelFacts, PackAnnotations, PackCost, PackLatency, PackRefusal, ToolMode};
use crate::id::Digest256;
use crate::json::{Json, JsonObject};
use crate::mcp::ToolHints;

/// The `_meta` key, and the member of a skill's front matter, under which an entry declares its annotations.
pub const ANNOTATIONS_KEY: &str = "eg.annotations";

/// Members beside the closed map that a tool may declare under [`ANNOTATIONS_KEY`]; they become its facts.
pub(super) const FACT_MEMBERS: [&str; 2] = ["side_effects", "readable_form"];

/// The most bytes of one value of a list.
const MAX_VALUE_BYTES: usize = 2048;

impl PackAnnotations {
    /// What an entry declares: its `_meta`, a tool's hints, and the fingerprint computed here. An unknown member is refused, and
    /// so is a declared value that contradicts a hint or the fingerprint.
    pub fn declared(
        uri: &str,
        meta: &JsonObject,
        hints: ToolHints,
        pin: Option<Digest256>,
    ) -> Result<Self, PackRefusal> {
        let mut said = match meta.get(ANNOTATIONS_KEY) {
            None => Self::default(),
            Some(closed) => Self::from_json(uri, closed)?,
        };
        let pairs = [
            (&mut said.read_only_hint, hints.read_only),
            (&mut said.destructive_hint, hints.destructive),
            (&mut said.idempotent_hint, hints.idempotent),
            (&mut said.open_world_hint, hints.open_world),
        ];
        for (declared, hint) in pairs {
            agree(uri, declared, hint, "a value that contradicts the tool's own hint")?;
        }
        agree(uri, &mut said.sdk_contract_pin, pin, "a contract pin that is not the fingerprint of the tool")?;
        Ok(said)
    }

    /// [`Self::declared`] of a tool, which may declare facts beside the closed map.
    pub(super) fn of_tool(uri: &str, meta: &JsonObject, hints: ToolHints, pin: Digest256) -> Result<Self, PackRefusal> {
        match meta.get(ANNOTATIONS_KEY) {
            Some(Json::Object(members)) if FACT_MEMBERS.iter().any(|name| members.contains_key(*name)) => {
                let mut closed = members.clone();
                closed.retain(|name, _| !FACT_MEMBERS.contains(&name.as_str()));
                let meta = JsonObject::from([(ANNOTATIONS_KEY.to_owned(), Json::Object(closed))]);
                Self::declared(uri, &meta, hints, Some(pin))
            }
            _ => Self::declared(uri, meta, hints, Some(pin)),
        }
    }

    /// As JSON: unknown values are left out, so that an empty map is `{}`.
    pub fn to_json(&self) -> Json {
        let mut out = JsonObject::new();
        let lists = [
            ("provides", &self.provides),
            ("requires_capabilities", &self.requires_capabilities),
            ("modalities_in", &self.modalities_in),
            ("modalities_out", &self.modalities_out),
            ("required_scopes", &self.required_scopes),
        ];
        for (name, values) in lists.into_iter().filter(|(_, values)| !values.is_empty()) {
            let values: Vec<Json> = values.iter().map(|value| Json::from(value.as_str())).collect();
            out.insert(name.to_owned(), values.into());
        }
        let mut put = |name: &str, value: Option<Json>| {
            if let Some(value) = value {
                out.insert(name.to_owned(), value);
            }
        };
        put("read_only_hint", self.read_only_hint.map(Json::from));
        put("destructive_hint", self.destructive_hint.map(Json::from));
        put("idempotent_hint", self.idempotent_hint.map(Json::from));
        put("open_world_hint", self.open_world_hint.map(Json::from));
        put("contract_version", self.contract_version.as_deref().map(Json::from));
        put("cost", self.cost.as_ref().map(PackCost::to_json));
        put("latency_declared", self.latency_declared.map(PackLatency::to_json));
        put("model", self.model.as_ref().map(ModelFacts::to_json));
        put("sdk_contract_pin", self.sdk_contract_pin.map(|pin| Json::from(pin.to_hex())));
        put("tool_mode", self.tool_mode.map(|mode| Json::from(mode.as_str())));
        Json::Object(out)
    }

    /// Reads the closed map; `null` and an absent member are the same. `uri` names the entry in a refusal.
    pub fn from_json(uri: &str, value: &Json) -> Result<Self, PackRefusal> {
        let read = Members::of(uri, value, &MEMBERS)?;
        let mode = match read.text("tool_mode")? {
            None => None,
            Some("condensed") => Some(ToolMode::Condensed),
            Some("verbose") => Some(ToolMode::Verbose),
            Some(_) => return Err(bad(uri, "a tool mode other than condensed and verbose")),
        };
        let pin = read.text("sdk_contract_pin")?.map(Digest256::parse_hex).transpose();
        Ok(Self {
            provides: read.list("provides")?,
            requires_capabilities: read.list("requires_capabilities")?,
            modalities_in: read.list("modalities_in")?,
            modalities_out: read.list("modalities_out")?,
            required_scopes: read.list("required_scopes")?,
            read_only_hint: read.flag("read_only_hint")?,
            destructive_hint: read.flag("destructive_hint")?,
            idempotent_hint: read.flag("idempotent_hint")?,
            open_world_hint: read.flag("open_world_hint")?,
            contract_version: read.text("contract_version")?.map(str::to_owned),
            cost: read.get("cost").map(|value| PackCost::from_json(uri, value)).transpose()?,
            latency_declared: read
                .get("latency_declared")
                .map(|value| PackLatency::from_json(uri, value))
                .transpose()?,
            model: read.get("model").map(|value| ModelFacts::from_json(uri, value)).transpose()?,
            sdk_contract_pin: pin.map_err(|_| bad(uri, "a contract pin that is not a digest"))?,
            tool_mode: mode,
        })
    }
}

fn agree<T: PartialEq>(
    uri: &str,
    declared: &mut Option<T>,
    known: Option<T>,
    what: &'static str,
) -> Result<(), PackRefusal> {
    match (&*declared, known) {
        (Some(said), Some(known)) if *said != known => Err(bad(uri, what)),
        (None, known) => {
            *declared = known;
            Ok(())
        }
        _ => Ok(()),
    }
}

const MEMBERS: [&str; 15] = [
    "provides",
    "requires_capabilities",
    "modalities_in",
    "modalities_out",
    "required_scopes",
    "read_only_hint",
    "destructive_hint",
    "idempotent_hint",
    "open_world_hint",
    "contract_version",
    "cost",
    "latency_declared",
    "model",
    "sdk_contract_pin",
    "tool_mode",
];

impl PackCost {
    fn from_json(uri: &str, value: &Json) -> Result<Self, PackRefusal> {
        let members = ["currency", "per_call_micros", "input_per_mtok_micros", "output_per_mtok_micros"];
        let read = Members::of(uri, value, &members)?;
        let currency = read.text("currency")?.unwrap_or_default();
        if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(bad(uri, "a currency that is not three capital letters"));
        }
        Ok(Self {
            currency: currency.to_owned(),
            per_call_micros: read.number("per_call_micros")?,
            input_per_mtok_micros: read.number("input_per_mtok_micros")?,
            output_per_mtok_micros: read.number("output_per_mtok_micros")?,
        })
    }

    fn to_json(&self) -> Json {
        let mut out = JsonObject::from([("currency".to_owned(), Json::from(self.currency.as_str()))]);
        let numbers = [
            ("per_call_micros", self.per_call_micros),
            ("input_per_mtok_micros", self.input_per_mtok_micros),
            ("output_per_mtok_micros", self.output_per_mtok_micros),
        ];
        out.extend(numbers.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Json::from(value?)))));
        Json::Object(out)
    }
}

impl PackLatency {
    fn from_json(uri: &str, value: &Json) -> Result<Self, PackRefusal> {
        let read = Members::of(uri, value, &["p50_ms", "p95_ms"])?;
        match (read.number("p50_ms")?, read.number("p95_ms")?) {
            (Some(p50_ms), Some(p95_ms)) if p50_ms <= p95_ms => Ok(Self { p50_ms, p95_ms }),
            (Some(_), Some(_)) => Err(bad(uri, "a p50 latency above the p95")),
            _ => Err(bad(uri, "a latency without p50_ms or p95_ms")),
        }
    }

    fn to_json(self) -> Json {
        Json::from([("p50_ms", self.p50_ms), ("p95_ms", self.p95_ms)].map(|(name, value)| (name, Json::from(value))))
    }
}

impl ModelFacts {
    fn from_json(uri: &str, value: &Json) -> Result<Self, PackRefusal> {
        let read = Members::of(uri, value, &MODEL_MEMBERS)?;
        let text =
            |name| Ok(read.text(name)?.ok_or_else(|| bad(uri, "model facts without a member they need"))?.to_owned());
        let number = |name| read.number(name)?.ok_or_else(|| bad(uri, "model facts without a member they need"));
        let measured = |name, known| read.get(name).map(|value| MeasuredFact::from_json(uri, value, known)).transpose();
        Ok(Self {
            provider: text("provider")?,
            model_identity: text("model_identity")?,
            context_window_tokens: number("context_window_tokens")?,
            max_output_tokens: number("max_output_tokens")?,
            supports_tools: read.flag("supports_tools")?,
            supports_structured_output: read.flag("supports_structured_output")?,
            supports_vision: read.flag("supports_vision")?,
            shell_proficiency: measured("shell_proficiency", ["low", "medium", "high"])?,
            stopping_behaviour: measured("stopping_behaviour", ["stops_early", "balanced", "over_verifies"])?,
        })
    }

    fn to_json(&self) -> Json {
        let mut out = JsonObject::from([
            ("provider".to_owned(), Json::from(self.provider.as_str())),
            ("model_identity".to_owned(), Json::from(self.model_identity.as_str())),
            ("context_window_tokens".to_owned(), self.context_window_tokens.into()),
            ("max_output_tokens".to_owned(), self.max_output_tokens.into()),
        ]);
        let flags = [
            ("supports_tools", self.supports_tools),
            ("supports_structured_output", self.supports_structured_output),
            ("supports_vision", self.supports_vision),
        ];
        out.extend(flags.into_iter().filter_map(|(name, flag)| Some((name.to_owned(), Json::from(flag?)))));
        let measured =
            [("shell_proficiency", &self.shell_proficiency), ("stopping_behaviour", &self.stopping_behaviour)];
        out.extend(measured.into_iter().filter_map(|(name, fact)| Some((name.to_owned(), fact.as_ref()?.to_json()))));
        Json::Object(out)
    }
}

const MODEL_MEMBERS: [&str; 9] = [
    "provider",
    "model_identity",
    "context_window_tokens",
    "max_output_tokens",
    "supports_tools",
    "supports_structured_output",
    "supports_vision",
    "shell_proficiency",
    "stopping_behaviour",
];

impl MeasuredFact {
    fn from_json(uri: &str, value: &Json, known: [&str; 3]) -> Result<Self, PackRefusal> {
        let read = Members::of(uri, value, &["value", "evaluation_run_ref"])?;
        let run = read.get("evaluation_run_ref").ok_or_else(|| bad(uri, "a measured fact without its evaluation"))?;
        let run = Members::of(uri, run, &["evaluation_id", "digest"])?;
        let value = read.text("value")?.filter(|value| known.contains(value));
        let needed = || bad(uri, "a measured fact with an unknown value, or without its evaluation");
        Ok(Self {
            value: value.ok_or_else(needed)?.to_owned(),
            evaluation_id: run.text("evaluation_id")?.ok_or_else(needed)?.to_owned(),
            evaluation_digest: run.text("digest")?.ok_or_else(needed)?.to_owned(),
        })
    }

    fn to_json(&self) -> Json {
        let run = [("evaluation_id", &self.evaluation_id), ("digest", &self.evaluation_digest)];
        let run = Json::from(run.map(|(name, text)| (name, Json::from(text.as_str()))));
        Json::from([("value", Json::from(self.value.as_str())), ("evaluation_run_ref", run)])
    }
}

pub(super) fn bad(uri: &str, what: &'static str) -> PackRefusal {
    PackRefusal::Annotation { uri: uri.to_owned(), what }
}

/// The members of one object of the map.
pub(super) struct Members<'v> {
    uri: &'v str,
    members: &'v JsonObject,
}

impl<'v> Members<'v> {
    pub(super) fn of(uri: &'v str, value: &'v Json, known: &[&str]) -> Result<Self, PackRefusal> {
        let members = value.as_object().ok_or_else(|| bad(uri, "a value that should be an object"))?;
        if members.keys().all(|name| known.contains(&name.as_str())) {
            Ok(Self { uri, members })
        } else {
            Err(bad(uri, "a member that the map does not have"))
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'v Json> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'v str>, PackRefusal> {
        let text =
            self.get(name).map(|value| value.as_str().ok_or_else(|| bad(self.uri, "a value that should be text")));
        text.transpose()
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, PackRefusal> {
        let flag = self
            .get(name)
            .map(|value| value.as_bool().ok_or_else(|| bad(self.uri, "a value that should be true or false")));
        flag.transpose()
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, PackRefusal> {
        let whole = |value: &Json| value.as_number().and_then(crate::json::JsonNumber::as_u64);
        let number = self
            .get(name)
            .map(|value| whole(value).ok_or_else(|| bad(self.uri, "a value that should be a whole number from 0")));
        number.transpose()
    }

    pub(super) fn list(&self, name: &str) -> Result<BTreeSet<String>, PackRefusal> {
        let Some(value) = self.get(name) else { return Ok(BTreeSet::new()) };
        let items = value.as_array().ok_or_else(|| bad(self.uri, "a value that should be a list"))?;
        if items.len() > MAX_LIST {
            return Err(bad(self.uri, "a list of more than 64 values"));
        }
        let text = |item: &Json| {
            let text = item.as_str().filter(|text| !text.trim().is_empty() && text.len() <= MAX_VALUE_BYTES);
            text.map(str::to_owned)
                .ok_or_else(|| bad(self.uri, "a list with something other than texts of 1 to 2048 bytes"))
        };
        items.iter().map(text).collect()
    }
}
