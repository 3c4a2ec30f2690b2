//! A connection as a stream.

use std::collections::VecDeque;

use futures_util::stream::{self, Stream};
use scion_domain::graphql::{ConnectionOptions, ConnectionWalk, GraphQlRefusal, NextPage, OperationKind};
use scion_domain::json::Json;

use super::{GraphQlCall, GraphQlFailure};

/// A connection to be walked. The document must take the cursor in the variable the options name.
#[derive(Clone, Debug)]
pub struct GraphQlPages {
    call: GraphQlCall,
    options: ConnectionOptions,
}

/// What a walk brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionRead {
    /// The items.
    pub items: Vec<Json>,
    /// Pages read.
    pub pages: usize,
    /// Whether the server had no more. `false` is not "that is all".
    pub complete: bool,
}

struct State {
    walk: ConnectionWalk,
    cursor: Option<String>,
    ready: VecDeque<Json>,
    next: Next,
}

#[derive(PartialEq, Eq)]
enum Next {
    Ask,
    End,
    Bound,
}

impl GraphQlPages {
    pub(super) const fn new(call: GraphQlCall, options: ConnectionOptions) -> Self {
        Self { call, options }
    }

    fn start(&self) -> State {
        State { walk: ConnectionWalk::new(self.options.clone()), cursor: None, ready: VecDeque::new(), next: Next::Ask }
    }

    async fn step(&self, state: &mut State) -> Result<(), GraphQlFailure> {
        if self.call.document.kind() == OperationKind::Mutation {
            return Err(GraphQlRefusal::Document { what: "is a mutation, which is not repeated page by page" }.into());
        }
        let variables = state.walk.variables(&self.call.variables, state.cursor.as_deref());
        let answer = self.call.run_with(&variables).await?;
        let (items, next) = state.walk.page(&answer.data)?;
        state.ready.extend(items);
        state.next = match next {
            NextPage::After(cursor) => {
                state.cursor = Some(cursor);
                Next::Ask
            }
            NextPage::End => Next::End,
            NextPage::Bound => Next::Bound,
        };
        Ok(())
    }

    /// Every page within the bounds, and whether that was all.
    pub async fn read(self) -> Result<ConnectionRead, GraphQlFailure> {
        let mut state = self.start();
        while state.next == Next::Ask {
            self.step(&mut state).await?;
        }
        let complete = state.next == Next::End;
        Ok(ConnectionRead { pages: state.walk.pages(), items: state.ready.into(), complete })
    }

    /// The items, page by page as they are asked for. A bound that is reached before the end is the last item, a refusal
    /// ([`GraphQlRefusal::Incomplete`]).
    pub fn items(self) -> impl Stream<Item = Result<Json, GraphQlFailure>> + Send + Unpin {
        let state = self.start();
        Box::pin(stream::try_unfold((self, state), |(pages, mut state)| async move {
            loop {
                if let Some(item) = state.ready.pop_front() {
                    return Ok(Some((item, (pages, state))));
                }
                match state.next {
                    Next::Ask => pages.step(&mut state).await?,
                    Next::End => return Ok(None),
                    Next::Bound => {
                        let (pages, items) = (state.walk.pages(), state.walk.items());
                        return Err(GraphQlRefusal::Incomplete { pages, items }.into());
                    }
                }
            }
        }))
    }
}
