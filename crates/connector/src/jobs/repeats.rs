//! Detects a service that hands out the same jobs again and again.

use std::collections::{HashSet, VecDeque};

use chat_protocol::JobId;

/// Maximum jobs that are recognised; the oldest are forgotten first.
const MAX_REMEMBERED_JOBS: usize = 10_000;

/// The jobs that a runner has claimed.
#[derive(Debug, Default)]
pub(super) struct RepeatedClaims {
    claimed: HashSet<JobId>,
    order: VecDeque<JobId>,
    consecutive: u32,
}

impl RepeatedClaims {
    /// Records a claimed job. Returns the number of consecutive claims, including this one, of jobs that were
    /// claimed before: 0 for a new job.
    pub(super) fn record(&mut self, job: &JobId) -> u32 {
        if !self.claimed.insert(job.clone()) {
            self.consecutive = self.consecutive.saturating_add(1);
            return self.consecutive;
        }
        self.consecutive = 0;
        self.order.push_back(job.clone());
        if self.order.len() > MAX_REMEMBERED_JOBS
            && let Some(oldest) = self.order.pop_front()
        {
            self.claimed.remove(&oldest);
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_repeated_claims_until_a_new_job() {
        let mut repeats = RepeatedClaims::default();
        let counts: Vec<_> =
            ["a", "b", "a", "b", "a", "c", "c"].map(|job| repeats.record(&job.into())).into();
        assert_eq!(counts, [0, 0, 1, 2, 3, 0, 1]);
    }

    #[test]
    fn limits_the_remembered_jobs() {
        let mut repeats = RepeatedClaims::default();
        for number in 0..2 * MAX_REMEMBERED_JOBS {
            assert_eq!(repeats.record(&number.to_string().into()), 0);
        }
        assert_eq!((repeats.claimed.len(), repeats.order.len()), (MAX_REMEMBERED_JOBS, MAX_REMEMBERED_JOBS));
    }
}
