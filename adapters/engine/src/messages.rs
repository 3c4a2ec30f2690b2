//! Streams of messages and the changes of a graph (`wire/engine-protocol.md` 9.2).

use scion_domain::engine::EngineRefusal;
use scion_domain::json::JsonObject;
use scion_domain::messaging::{
    ChangeKind, ChangePage, ChangePosition, GraphChange, Message, MessageRefusal, StreamBounds, check_limit,
    check_message, check_name,
};
use scion_domain::sink::StoreRefusal;
use scion_ports::{ChangeFeedReader, MessageStream, async_trait};

use crate::client::{Call, EngineClient, Repeats};
use crate::{Body, DecodeLimits, Value, decode};

/// The engine writes every byte of a message as a number, so that pages are small.
const PAGE: usize = 256;
/// A page of the longest messages fits into a frame and into what is decoded at once.
const SMALL_PAGE: usize = 8;

/// [`MessageStream`], [`ChangeFeedReader`] and [`ChangeEnvelopes`](scion_ports::ChangeEnvelopes) in one graph of the engine.
///
/// The feed is the engine's own, in memory: it reports plain writes of nodes and edges, neither ingested batches nor change
/// envelopes, and starts anew with the engine.
#[derive(Clone, Debug)]
pub struct EngineMessages {
    pub(crate) client: EngineClient,
    pub(crate) graph: String,
}

impl EngineMessages {
    /// Over this graph.
    pub fn new(client: EngineClient, graph: impl Into<String>) -> Self {
        Self { client, graph: graph.into() }
    }

    pub(crate) async fn call(
        &self,
        body: Body,
        repeats: Repeats,
        idempotency_key: Option<&str>,
    ) -> Result<Value, EngineRefusal> {
        self.client.call(Call { graph: &self.graph, body, idempotency_key, repeats }).await
    }

    async fn page(&self, stream: &str, from: i64, limit: usize) -> Result<Vec<Message>, EngineRefusal> {
        let method = "StreamRead";
        let params = [("stream", stream.into()), ("from_offset", from.into()), ("max", (limit as u64).into())];
        let answer = self.call(Body::with(method, params), Repeats::Freely, None).await?;
        let row = |row: &Value| {
            let [offset, payload] = row.as_list()? else { return None };
            Some(Message { offset: offset.as_natural()?, payload: payload.to_bytes()? })
        };
        let rows = answer.as_list().and_then(|rows| rows.iter().map(row).collect());
        rows.ok_or(EngineRefusal::Malformed { method })
    }

    async fn changes(&self, from: u64, limit: usize) -> Result<Value, EngineRefusal> {
        let body = || {
            let limit = limit as u64;
            let params = [("graph", self.graph.as_str().into()), ("from_seq", from.into()), ("limit", limit.into())];
            Body::with("CdcRead", params)
        };
        match self.call(body(), Repeats::Freely, None).await {
            // A graph that nobody has read since the engine started is not in memory; reading it brings it there.
            Err(EngineRefusal::Opaque { .. }) => {
                self.call(Body::unit("NodeCount"), Repeats::Freely, None).await?;
                self.call(body(), Repeats::Freely, None).await
            }
            answer => answer,
        }
    }
}

#[async_trait]
impl MessageStream for EngineMessages {
    async fn declare(&self, stream: &str, bounds: StreamBounds) -> Result<(), MessageRefusal> {
        check_name(stream)?;
        let body = Body::with(
            "StreamDeclare",
            [
                ("stream", stream.into()),
                ("max_messages", bounds.max_messages.into()),
                ("max_age_ms", bounds.max_age_ms.into()),
            ],
        );
        self.call(body, Repeats::ByKey, None).await.map(|_| ()).map_err(|no| refuse(&no, "the declaration"))
    }

    async fn publish(&self, stream: &str, payload: &[u8], now_ms: i64) -> Result<u64, MessageRefusal> {
        check_name(stream)?;
        check_message(payload)?;
        let now = u64::try_from(now_ms).map_err(|_| MessageRefusal::Invalid { what: "a time is before 1970" })?;
        let method = "StreamPublish";
        let params = [("stream", stream.into()), ("payload", Value::Bytes(payload.to_vec())), ("now_ms", now.into())];
        let answer = self.call(Body::with(method, params), Repeats::ByKey, None).await;
        let answer = answer.map_err(|no| refuse(&no, "the publication"))?;
        answer.as_natural().ok_or_else(|| refuse(&EngineRefusal::Malformed { method }, "the publication"))
    }

    async fn read(&self, stream: &str, from: u64, limit: usize) -> Result<Vec<Message>, MessageRefusal> {
        check_name(stream)?;
        check_limit(limit)?;
        let Ok(from) = i64::try_from(from) else { return Ok(Vec::new()) };
        let page = match self.page(stream, from, limit.min(PAGE)).await {
            // More than a frame or a decoder takes.
            Err(EngineRefusal::Malformed { .. } | EngineRefusal::Closed { .. }) if limit > SMALL_PAGE => {
                self.page(stream, from, SMALL_PAGE).await
            }
            page => page,
        };
        page.map_err(|no| refuse(&no, "the read"))
    }

    async fn commit(&self, stream: &str, group: &str, next: u64) -> Result<(), MessageRefusal> {
        let committed = self.committed(stream, group).await?.unwrap_or(0);
        if next < committed {
            // The engine would go back.
            return Err(MessageRefusal::Behind { committed, asked: next });
        }
        let offset = i64::try_from(next).map_err(|_| MessageRefusal::Invalid { what: "an offset is too large" })?;
        let params = [("stream", stream.into()), ("group", group.into()), ("offset", offset.into())];
        let done = self.call(Body::with("StreamCommitOffset", params), Repeats::ByKey, None).await;
        done.map(|_| ()).map_err(|no| refuse(&no, "the commit of the offset"))
    }

    async fn committed(&self, stream: &str, group: &str) -> Result<Option<u64>, MessageRefusal> {
        check_name(stream)?;
        check_name(group)?;
        let method = "StreamCommittedOffset";
        let params = [("stream", stream.into()), ("group", group.into())];
        match self.call(Body::with(method, params), Repeats::Freely, None).await {
            Ok(Value::Nil) => Ok(None),
            Ok(Value::Natural(offset)) => Ok(Some(offset)),
            Ok(_) => Err(refuse(&EngineRefusal::Malformed { method }, "the read")),
            Err(no) => Err(refuse(&no, "the read")),
        }
    }

    async fn trim(&self, stream: &str, now_ms: i64) -> Result<u64, MessageRefusal> {
        check_name(stream)?;
        let now = u64::try_from(now_ms).map_err(|_| MessageRefusal::Invalid { what: "a time is before 1970" })?;
        let method = "StreamTrim";
        let params = [("stream", stream.into()), ("now_ms", now.into())];
        let answer = self.call(Body::with(method, params), Repeats::ByKey, None).await;
        let answer = answer.map_err(|no| refuse(&no, "the trim"))?;
        answer.as_natural().ok_or_else(|| refuse(&EngineRefusal::Malformed { method }, "the trim"))
    }
}

#[async_trait]
impl ChangeFeedReader for EngineMessages {
    async fn read(&self, from: Option<ChangePosition>, limit: usize) -> Result<ChangePage, MessageRefusal> {
        check_limit(limit)?;
        let malformed = || refuse(&EngineRefusal::Malformed { method: "CdcRead" }, "the read");
        let number = |answer: &Value, name: &str| answer.get(name).and_then(Value::as_natural).ok_or_else(malformed);
        let lossy = |answer: &Value| answer.get("gap").and_then(Value::as_bool).ok_or_else(malformed);
        let start = from.map_or(0, |from| from.seq);
        let mut answer = self.changes(start, limit).await.map_err(|no| refuse(&no, "the read"))?;
        if from.is_none() && lossy(&answer)? {
            let oldest = number(&answer, "watermark")?;
            answer = self.changes(oldest, limit).await.map_err(|no| refuse(&no, "the read"))?;
        }
        let (epoch, head) = (number(&answer, "epoch")?, number(&answer, "head_seq")?);
        if lossy(&answer)? || from.is_some_and(|from| from.epoch != epoch) {
            return Ok(ChangePage { changes: Vec::new(), gap: true, next: ChangePosition { epoch, seq: head } });
        }
        let events = answer.get("events").and_then(Value::as_list).ok_or_else(malformed)?;
        let changes: Vec<_> = events.iter().map(change).collect::<Option<_>>().ok_or_else(malformed)?;
        let seq = changes.last().map_or(start, |change| change.seq + 1);
        Ok(ChangePage { changes, gap: false, next: ChangePosition { epoch, seq } })
    }
}

fn change(event: &Value) -> Option<GraphChange> {
    let kind = match event.get("kind")?.as_text()? {
        "AddNode" => ChangeKind::AddNode,
        "UpdateNode" => ChangeKind::UpdateNode,
        "RemoveNode" => ChangeKind::RemoveNode,
        "AddEdge" => ChangeKind::AddEdge,
        "RemoveEdge" => ChangeKind::RemoveEdge,
        _ => return None,
    };
    let side = |had: &str, name: &str| {
        if !event.get(had)?.as_bool()? {
            return Some(None);
        }
        Some(Some(properties(&event.get(name)?.to_bytes()?)?))
    };
    let edge = matches!(kind, ChangeKind::AddEdge | ChangeKind::RemoveEdge);
    Some(GraphChange {
        seq: event.get("seq")?.as_natural()?,
        kind,
        node: event.get("node_id")?.as_text()?.to_owned(),
        target: if edge { Some(event.get("target_id")?.as_text()?.to_owned()) } else { None },
        label: event.get("label")?.as_text()?.to_owned(),
        before: side("had_before", "before")?,
        after: side("had_after", "after")?,
    })
}

/// An object out of its MessagePack bytes.
fn properties(bytes: &[u8]) -> Option<JsonObject> {
    decode(bytes, DecodeLimits::default()).ok()?.to_json()?.as_object().cloned()
}

/// What the engine's refusal means for a stream.
pub(crate) fn refuse(refusal: &EngineRefusal, what: &'static str) -> MessageRefusal {
    match refusal {
        EngineRefusal::MethodNotServed { method } => MessageRefusal::MethodNotServed { method },
        refusal if refusal.is_unsettled() && what != "the read" => MessageRefusal::OutcomeUnknown { what },
        EngineRefusal::Refused { .. } => StoreRefusal::Unavailable { what: "the engine refuses the request" }.into(),
        EngineRefusal::Unreachable { .. } => {
            StoreRefusal::Unavailable { what: "no engine answers at the endpoint" }.into()
        }
        EngineRefusal::Busy { .. } => StoreRefusal::Unavailable { what: "the engine cannot do it now" }.into(),
        _ => StoreRefusal::Unavailable { what: "the engine gives no usable answer" }.into(),
    }
}
