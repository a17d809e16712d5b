//! What happened in runs: faults that were injected and what was done.

use super::super::node::Counts;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Summary {
    pub(crate) counts: Counts,
    pub(crate) told: u64,
    pub(crate) recorded: u64,
    pub(crate) deleted: u64,
    pub(crate) bad_items: u64,
    pub(crate) ends: u64,
    pub(crate) reorgs: u64,
    pub(crate) undone_blocks: u64,
    pub(crate) pools_lost: u64,
    pub(crate) foreign: u64,
    pub(crate) reverted: u64,
    pub(crate) rejected_items: u64,
    pub(crate) takeovers: u64,
    pub(crate) replacements: u64,
    pub(crate) fillers: u64,
    pub(crate) stale: u64,
    pub(crate) blocks: u64,
    pub(crate) calls: u64,
}

impl Summary {
    fn numbers(&mut self) -> [(&'static str, &mut u64); 22] {
        let Counts { lost_requests, lost_replies, lost_commits, crashes, echoes } = &mut self.counts;
        [
            ("lost requests", lost_requests),
            ("lost replies", lost_replies),
            ("lost commits", lost_commits),
            ("crashes at a step", crashes),
            ("late duplicates", echoes),
            ("promises", &mut self.told),
            ("listings recorded", &mut self.recorded),
            ("listings deleted", &mut self.deleted),
            ("items that a contract cannot take", &mut self.bad_items),
            ("processes that ended", &mut self.ends),
            ("reorganisations", &mut self.reorgs),
            ("blocks undone", &mut self.undone_blocks),
            ("pools lost", &mut self.pools_lost),
            ("foreign transactions", &mut self.foreign),
            ("calls reverted", &mut self.reverted),
            ("items rejected", &mut self.rejected_items),
            ("takeovers", &mut self.takeovers),
            ("replacements", &mut self.replacements),
            ("nonces filled", &mut self.fillers),
            ("stale items", &mut self.stale),
            ("blocks", &mut self.blocks),
            ("calls", &mut self.calls),
        ]
    }

    pub(crate) fn total(summaries: &[Self]) -> Self {
        let mut total = Self::default();
        for mut summary in summaries.iter().copied() {
            for ((_, sum), (_, number)) in total.numbers().into_iter().zip(summary.numbers()) {
                *sum += *number;
            }
        }
        total
    }

    /// A fault that never occurs proves nothing.
    pub(crate) fn assert_everything_happened(mut self) {
        for (what, number) in self.numbers() {
            assert!(*number > 0, "there were no {what}");
        }
    }
}
