//! Which streams a simulated connector has and how they page.

use super::world::World;

/// How a stream is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// By page number, over the list as it is now.
    Page,
    /// By offset, over the list as it is now.
    Offset,
    /// By cursor, over a snapshot.
    Cursor,
    /// One call.
    Whole,
    /// By cursor; changes and withdrawals since a mark the runner works out.
    Delta,
    /// By cursor; changes and withdrawals since a mark the server hands out.
    Opaque,
    /// By cursor; the runner skips what it knows.
    Incremental,
    /// By cursor, with the complete list of what is live.
    Reconcile,
    /// One call per record of the first stream.
    FanOut,
}

impl Kind {
    /// Withdrawals come with changes.
    pub(super) const fn is_delta(self) -> bool {
        matches!(self, Self::Delta | Self::Opaque)
    }
}

/// One stream.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) name: &'static str,
    pub(super) record_type: &'static str,
    pub(super) kind: Kind,
    /// Records a page.
    pub(super) size: usize,
    /// Edges to stubs of another type.
    pub(super) groups: bool,
    /// Edges to records of the same stream, stubs where there is none.
    pub(super) peers: bool,
    /// Edges to records of the other stream.
    pub(super) other: Option<&'static str>,
    /// Waits for another stream.
    pub(super) after: Option<&'static str>,
}

impl Layout {
    pub(super) fn tool(&self) -> String {
        format!("list_{}", self.name)
    }
}

const KINDS: [Kind; 8] = [
    Kind::Page,
    Kind::Offset,
    Kind::Cursor,
    Kind::Whole,
    Kind::Delta,
    Kind::Opaque,
    Kind::Incremental,
    Kind::Reconcile,
];

/// Draws one to three streams.
pub(super) fn draw(world: &World) -> Vec<Layout> {
    let size = || world.pick(&[1, 2, 3, 4]);
    let mut first = Layout {
        name: "alpha",
        record_type: "Alpha",
        kind: world.pick(&KINDS),
        size: size(),
        groups: world.one_in(3),
        peers: world.one_in(3),
        other: None,
        after: None,
    };
    let mut streams = Vec::new();
    if world.one_in(2) {
        let second = Layout {
            name: "beta",
            record_type: "Beta",
            kind: world.pick(&KINDS),
            size: size(),
            groups: world.one_in(4),
            peers: world.one_in(4),
            other: world.one_in(2).then_some("alpha"),
            after: world.one_in(3).then_some("alpha"),
        };
        first.other = world.one_in(4).then_some("beta");
        streams.push(second);
    }
    if world.one_in(3) {
        streams.push(Layout {
            name: "gamma",
            record_type: "Gamma",
            kind: Kind::FanOut,
            size: 0,
            groups: world.one_in(3),
            peers: false,
            other: world.one_in(2).then_some("alpha"),
            after: world.one_in(2).then_some("alpha"),
        });
    }
    streams.insert(0, first);
    streams
}
