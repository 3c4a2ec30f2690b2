//! Stages (R001.1 to R001.6): the streams of a run with who they run for, what they depend on, and how many run side by side.

mod run;

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::id::{ConnectorName, Digest256, StreamName, TenantId};
use scion_domain::sync::SyncRefusal;

pub use run::{RunReport, StageOutcome, StageReport};

/// The most stages one graph admits side by side.
pub const MAX_CONCURRENCY: usize = 256;

/// One stage as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageDescriptor {
    /// Its id, unique in the graph.
    pub id: String,
    /// For whom it runs; `None` is refused.
    pub tenant: Option<TenantId>,
    /// The connector it reads.
    pub connector: ConnectorName,
    /// The source it reads, which is the stream it writes.
    pub source: StreamName,
    /// Digest of the accepted declaration it runs under; `None` is refused.
    pub manifest_digest: Option<Digest256>,
    /// Stages that must complete first.
    pub dependencies: Vec<String>,
    /// How many of the admitted places it takes: 1 to the graph's limit.
    pub concurrency: usize,
}

/// Stages that were checked as a whole: nothing was extracted before this exists.
#[derive(Clone, Debug)]
pub struct StageGraph {
    stages: BTreeMap<String, StageDescriptor>,
    limit: usize,
}

impl StageGraph {
    /// Admits the stages under a limit of places. Refuses a limit outside 1 to [`MAX_CONCURRENCY`], a stage id or a stream
    /// that stands twice, a stage without authority or with no usable concurrency, unknown dependencies, and cycles.
    pub fn admit(stages: Vec<StageDescriptor>, limit: usize) -> Result<Self, SyncRefusal> {
        if limit == 0 || limit > MAX_CONCURRENCY {
            let stage = stages.first().map_or_else(|| "run".to_owned(), |stage| stage.id.clone());
            return Err(SyncRefusal::StageConcurrency { stage, asked: limit, limit: MAX_CONCURRENCY });
        }
        let mut graph = Self { stages: BTreeMap::new(), limit };
        let mut streams = BTreeSet::new();
        for stage in stages {
            check_stage(&stage, limit)?;
            if !streams.insert((stage.connector.clone(), stage.source.clone())) {
                return Err(SyncRefusal::DuplicateStream { stage: stage.id, stream: stage.source.to_string() });
            }
            let id = stage.id.clone();
            if graph.stages.insert(id.clone(), stage).is_some() {
                return Err(SyncRefusal::DuplicateStage { stage: id });
            }
        }
        graph.check_dependencies()?;
        Ok(graph)
    }

    /// The stages, by id.
    pub fn stages(&self) -> impl Iterator<Item = &StageDescriptor> {
        self.stages.values()
    }

    /// Places admitted side by side.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    fn check_dependencies(&self) -> Result<(), SyncRefusal> {
        for stage in self.stages.values() {
            for dependency in &stage.dependencies {
                if !self.stages.contains_key(dependency) {
                    let (stage, dependency) = (stage.id.clone(), dependency.clone());
                    return Err(SyncRefusal::UnknownDependency { stage, dependency });
                }
            }
        }
        // What is left when no stage without open dependencies remains, is or hangs on a cycle.
        let mut open: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for stage in self.stages.values() {
            open.insert(&stage.id, stage.dependencies.iter().map(String::as_str).collect());
        }
        loop {
            let ready: Vec<&str> = open.iter().filter(|(_, deps)| deps.is_empty()).map(|(id, _)| *id).collect();
            if ready.is_empty() {
                break;
            }
            for id in ready {
                open.remove(id);
                for dependencies in open.values_mut() {
                    dependencies.remove(id);
                }
            }
        }
        match open.keys().next() {
            Some(stage) => Err(SyncRefusal::StageCycle { stage: (*stage).to_owned() }),
            None => Ok(()),
        }
    }
}

fn check_stage(stage: &StageDescriptor, limit: usize) -> Result<(), SyncRefusal> {
    let without = |what| Err(SyncRefusal::StageWithoutAuthority { stage: stage.id.clone(), what });
    if stage.tenant.is_none() {
        return without("tenant");
    }
    if stage.manifest_digest.is_none() {
        return without("manifest digest");
    }
    if stage.concurrency == 0 || stage.concurrency > limit {
        let (stage, asked) = (stage.id.clone(), stage.concurrency);
        return Err(SyncRefusal::StageConcurrency { stage, asked, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(id: &str, after: &[&str]) -> StageDescriptor {
        StageDescriptor {
            id: id.to_owned(),
            tenant: Some(TenantId::parse("t").unwrap()),
            connector: ConnectorName::parse("desk").unwrap(),
            source: StreamName::parse(id).unwrap(),
            manifest_digest: Some(Digest256::ZERO),
            dependencies: after.iter().map(|id| (*id).to_owned()).collect(),
            concurrency: 1,
        }
    }

    fn refused(stages: Vec<StageDescriptor>, limit: usize) -> &'static str {
        StageGraph::admit(stages, limit).unwrap_err().leaf_code()
    }

    /// Proves: SDK-SOURCE-INGEST-R001.1, SDK-SOURCE-INGEST-R001.4
    #[test]
    fn what_cannot_run_is_refused_before_anything_is_read() {
        assert_eq!(refused(vec![stage("a", &[]), stage("a", &[])], 2), "stage_stream_duplicate");
        let other_stream = StageDescriptor { source: StreamName::parse("b").unwrap(), ..stage("a", &[]) };
        assert_eq!(refused(vec![stage("a", &[]), other_stream], 2), "stage_duplicate");
        assert_eq!(refused(vec![stage("a", &["b"]), stage("b", &["a"])], 2), "stage_cycle");
        assert_eq!(refused(vec![stage("a", &["a"])], 2), "stage_cycle");
        assert_eq!(refused(vec![stage("a", &["x"])], 2), "stage_dependency_unknown");
        assert_eq!(refused(vec![StageDescriptor { tenant: None, ..stage("a", &[]) }], 2), "stage_authority_missing");
        let no_manifest = StageDescriptor { manifest_digest: None, ..stage("a", &[]) };
        assert_eq!(refused(vec![no_manifest], 2), "stage_authority_missing");
        for concurrency in [0, 3] {
            let stage = StageDescriptor { concurrency, ..stage("a", &[]) };
            assert_eq!(refused(vec![stage], 2), "stage_concurrency_unbounded");
        }
        assert_eq!(refused(vec![stage("a", &[])], 0), "stage_concurrency_unbounded");
        assert_eq!(refused(vec![stage("a", &[])], MAX_CONCURRENCY + 1), "stage_concurrency_unbounded");
        assert!(StageGraph::admit(vec![stage("a", &[]), stage("b", &["a"]), stage("c", &["a", "b"])], 2).is_ok());
    }
}
