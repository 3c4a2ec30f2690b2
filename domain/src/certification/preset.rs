//! One declared preset against the live tool.

use super::finding::CertificationFinding as Finding;
use super::parameters::{TextSchema, UnfitArgument, text_schema, unfit_argument};
use super::pin::ToolPin;
use crate::declaration::{ParamsStyle, SyncPreset};
use crate::json::{Json, JsonObject};
use crate::mcp::ToolDescription;
use crate::pagination::preset::call_arguments;

/// Compares a preset with the tool it names: listed exactly once, with a contract, read-only, the action enumerated, the argument
/// for the parameters there, and every argument of a call taken. All findings, in that order.
pub fn check_preset(preset: &SyncPreset, tools: &[ToolDescription]) -> Result<ToolPin, Vec<Finding>> {
    let name = || preset.tool.clone();
    let mut listed = tools.iter().filter(|tool| tool.name == preset.tool);
    let Some(tool) = listed.next() else { return Err(vec![Finding::ToolMissing { tool: name() }]) };
    let more = listed.count();
    if more > 0 {
        return Err(vec![Finding::ToolTwice { tool: name(), count: more + 1 }]);
    }
    let pin = ToolPin::of(tool).map_err(|refusal| vec![Finding::NoContract { what: refusal.to_string() }])?;
    let mut found = Vec::new();
    if !tool.hints.is_read_only() {
        found.push(Finding::NotReadOnly { tool: name() });
    }
    let action = check_action(preset, tool).err();
    let params = check_params_argument(preset, tool).err();
    let special = action.is_some() || params.is_some();
    found.extend(action);
    found.extend(params);
    // A tool without the argument for its action would be told a second time about the same thing.
    if !special {
        found.extend(check_arguments(preset, tool).err());
    }
    if found.is_empty() { Ok(pin) } else { Err(found) }
}

fn property<'t>(tool: &'t ToolDescription, name: &str) -> Option<&'t Json> {
    tool.input_schema.get("properties")?.get(name)
}

fn check_action(preset: &SyncPreset, tool: &ToolDescription) -> Result<(), Finding> {
    if preset.action.is_empty() {
        return Ok(());
    }
    let (name, argument) = (tool.name.clone(), preset.action_param.clone());
    let Some(schema) = property(tool, &argument) else { return Err(Finding::ActionArgument { tool: name, argument }) };
    match text_schema(&tool.input_schema, schema) {
        TextSchema::NotText => Err(Finding::ActionArgument { tool: name, argument }),
        TextSchema::Open => Err(Finding::ActionOpen { tool: name, argument }),
        TextSchema::OneOf(actions) if actions.contains(&preset.action.as_str()) => Ok(()),
        TextSchema::OneOf(_) => Err(Finding::ActionUnknown { tool: name, action: preset.action.clone() }),
    }
}

fn check_params_argument(preset: &SyncPreset, tool: &ToolDescription) -> Result<(), Finding> {
    if preset.params_style != ParamsStyle::Json {
        return Ok(());
    }
    let text = property(tool, &preset.params_arg).map(|schema| text_schema(&tool.input_schema, schema));
    match text {
        Some(TextSchema::Open) => Ok(()),
        _ => Err(Finding::ParamsArgument { tool: tool.name.clone(), argument: preset.params_arg.clone() }),
    }
}

fn check_arguments(preset: &SyncPreset, tool: &ToolDescription) -> Result<(), Finding> {
    let uncallable = |what: String| Finding::Uncallable { preset: preset.name.to_string(), what };
    let mut arguments = call_arguments(preset, &Json::Object(JsonObject::new()), None)
        .map_err(|refusal| uncallable(refusal.to_string()))?;
    let required_only = unfit(preset, tool, &arguments);
    if preset.params_style == ParamsStyle::Args {
        // What later pages and fan-outs add. They may not be required, but the tool must know them.
        let each = preset.for_each.as_ref().map_or("", |each| each.argument.as_str());
        let later = [
            preset.cursor_param.as_str(),
            &preset.page_param,
            &preset.page_size_param,
            &preset.updated_since_param,
            each,
        ];
        for name in later.into_iter().filter(|name| !name.is_empty()) {
            let head = name.split('.').next().unwrap_or(name);
            arguments.entry(head.to_owned()).or_insert(Json::Null);
        }
        return unfit(preset, tool, &arguments);
    }
    required_only
}

fn unfit(preset: &SyncPreset, tool: &ToolDescription, arguments: &JsonObject) -> Result<(), Finding> {
    let (preset, name) = (preset.name.to_string(), tool.name.clone());
    match unfit_argument(&tool.input_schema, arguments) {
        None => Ok(()),
        Some(UnfitArgument::Unknown(argument)) => {
            Err(Finding::UnknownArgument { preset, tool: name, argument: argument.to_owned() })
        }
        Some(UnfitArgument::Missing(argument)) => {
            Err(Finding::MissingArgument { preset, tool: name, argument: argument.to_owned() })
        }
    }
}
