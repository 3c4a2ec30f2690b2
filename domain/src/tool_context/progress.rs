use super::ToolContextRefusal;

/// The longest message of a progress notice, in characters.
pub const MAX_PROGRESS_MESSAGE: usize = 512;

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolProgress {
    /// The notice's place in its call, from 1.
    pub sequence: u64,
    /// What is done; finite, not negative, larger than in the notice before.
    pub completed: f64,
    /// All there is to do, where that is known.
    pub total: Option<f64>,
    /// A short text for people.
    pub message: Option<String>,
}

/// What a report of progress leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgressStep {
    /// The client is told.
    Notify(ToolProgress),
    /// It says nothing new: as much was done, or more, in an earlier notice.
    Suppressed,
}

/// The progress of one call. Whatever the order its producers come in, sequence and completed values grow strictly.
#[derive(Clone, Debug, Default)]
pub struct ProgressRules {
    last: Option<ToolProgress>,
}

impl ProgressRules {
    /// Takes a report. A total that was named once stays and bounds what is completed. A report that is not larger than the last
    /// one is suppressed; when it is equal, its message becomes that of the summary.
    pub fn report(
        &mut self,
        completed: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<ProgressStep, ToolContextRefusal> {
        let refuse = |what| Err(ToolContextRefusal::InvalidProgress { what });
        if !completed.is_finite() || completed < 0.0 {
            return refuse("what is completed is not a finite number from 0");
        }
        if total.is_some_and(|total| !total.is_finite() || total < 0.0) {
            return refuse("the total is not a finite number from 0");
        }
        if message.is_some_and(|message| message.chars().count() > MAX_PROGRESS_MESSAGE) {
            return refuse("the message has more than 512 characters");
        }
        let known = self.last.as_ref().and_then(|last| last.total);
        #[expect(clippy::float_cmp, reason = "the total is fixed: the very same number")]
        if let (Some(known), Some(total)) = (known, total)
            && known != total
        {
            return refuse("the total has changed");
        }
        let total = known.or(total);
        if total.is_some_and(|total| completed > total) {
            return refuse("more is completed than there is");
        }
        if let Some(last) = &mut self.last
            && completed <= last.completed
        {
            #[expect(clippy::float_cmp, reason = "only an equal report speaks of the same point")]
            if completed == last.completed
                && let Some(message) = message
            {
                last.message = Some(message.to_owned());
            }
            // A total that becomes known late bounds what follows; it must not contradict what was said.
            if last.total.is_none() && total.is_some_and(|total| last.completed <= total) {
                last.total = total;
            }
            return Ok(ProgressStep::Suppressed);
        }
        let sequence = self.last.as_ref().map_or(1, |last| last.sequence.saturating_add(1));
        let progress = ToolProgress { sequence, completed, total, message: message.map(str::to_owned) };
        self.last = Some(progress.clone());
        Ok(ProgressStep::Notify(progress))
    }

    /// Takes a report of `by` more than before, so that producers side by side need not know of each other.
    pub fn advance(&mut self, by: f64, message: Option<&str>) -> Result<ProgressStep, ToolContextRefusal> {
        if !by.is_finite() || by < 0.0 {
            return Err(ToolContextRefusal::InvalidProgress { what: "the step is not a finite number from 0" });
        }
        let done = self.last.as_ref().map_or(0.0, |last| last.completed);
        self.report(done + by, None, message)
    }

    /// The last point that was told, with the latest message: the summary at the end of a call.
    pub const fn last(&self) -> Option<&ToolProgress> {
        self.last.as_ref()
    }

    /// The sequence of the last notice; 0 when there was none.
    pub fn last_sequence(&self) -> u64 {
        self.last.as_ref().map_or(0, |last| last.sequence)
    }
}
