//! Whose the listings are that are too new for the search index, kept in memory.
//!
//! The index knows an owner's listings up to its watermark. What comes after it is noted here by the writer, after the
//! commit, and struck out by the indexer once the index holds it. This saves work and nothing else: what is not noted,
//! because another process has written it or because there is too much of it, is read one by one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use portico_domain::UserId;

/// So many are noted at most: an index that cannot be written must not fill the memory.
const MOST: usize = 200_000;

#[derive(Debug, Default)]
pub(super) struct Newest(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The last listing that the index holds.
    indexed: i64,
    /// The last one that the index holds or that was noted.
    last: i64,
    /// Not every listing up to this one was noted.
    unknown: i64,
    noted: usize,
    of: HashMap<UserId, Vec<i64>>,
}

/// Where an owner's listings are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Whereabouts {
    /// In the index, up to this one.
    pub(crate) indexed: i64,
    /// These come after it, in order.
    pub(crate) later: Vec<i64>,
    /// After this one any may be the owner's.
    pub(crate) tail: i64,
}

impl Newest {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what was committed, in order.
    pub(super) fn note(&self, added: Vec<(UserId, i64)>) {
        let state = &mut *self.state();
        for (user, seq) in added {
            // The index may have been quicker.
            if seq <= state.indexed {
                continue;
            }
            if seq != state.last + 1 {
                state.unknown = seq - 1;
            }
            state.last = seq;
            if state.noted == MOST {
                (state.unknown, state.noted, state.of) = (seq, 0, HashMap::new());
            } else {
                state.of.entry(user).or_default().push(seq);
                state.noted += 1;
            }
        }
    }

    /// The index holds everything up to this listing.
    pub(super) fn indexed(&self, watermark: i64) {
        let state = &mut *self.state();
        state.indexed = watermark;
        state.last = state.last.max(watermark);
        state.noted = 0;
        state.of.retain(|_, later| {
            later.retain(|seq| *seq > watermark);
            state.noted += later.len();
            !later.is_empty()
        });
    }

    pub(super) fn of(&self, user: &UserId) -> Whereabouts {
        let state = self.state();
        let indexed = state.indexed;
        if state.unknown > indexed {
            return Whereabouts { indexed, later: Vec::new(), tail: indexed };
        }
        Whereabouts { indexed, later: state.of.get(user).cloned().unwrap_or_default(), tail: state.last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> UserId {
        UserId::parse(name).unwrap()
    }

    fn assert_at(newest: &Newest, name: &str, indexed: i64, later: &[i64], tail: i64) {
        assert_eq!(newest.of(&user(name)), Whereabouts { indexed, later: later.to_vec(), tail });
    }

    #[test]
    fn what_was_noted_is_known_until_the_index_holds_it() {
        let newest = Newest::default();
        newest.indexed(10);
        newest.note(vec![(user("ann"), 11), (user("bob"), 12), (user("ann"), 13)]);
        assert_at(&newest, "ann", 10, &[11, 13], 13);
        newest.indexed(12);
        assert_at(&newest, "ann", 12, &[13], 13);
        assert_at(&newest, "bob", 12, &[], 13);
    }

    #[test]
    fn what_the_index_holds_before_it_is_noted_is_not_named_twice() {
        let newest = Newest::default();
        newest.indexed(2);
        newest.note(vec![(user("ann"), 1), (user("ann"), 2), (user("ann"), 3)]);
        assert_at(&newest, "ann", 2, &[3], 3);
    }

    #[test]
    fn after_what_somebody_else_has_written_nothing_is_known_until_the_index_holds_it() {
        let newest = Newest::default();
        newest.note(vec![(user("ann"), 1)]);
        newest.note(vec![(user("ann"), 4)]);
        assert_at(&newest, "ann", 0, &[], 0);
        newest.indexed(2);
        assert_at(&newest, "ann", 2, &[], 2);
        newest.indexed(3);
        assert_at(&newest, "ann", 3, &[4], 4);
    }

    #[test]
    fn more_than_fits_is_unknown_until_the_index_holds_it() {
        let newest = Newest::default();
        let most = i64::try_from(MOST).unwrap();
        newest.note((1..=most).map(|seq| (user("ann"), seq)).collect());
        assert_at(&newest, "bob", 0, &[], most);
        newest.note(vec![(user("bob"), most + 1), (user("bob"), most + 2)]);
        assert_at(&newest, "bob", 0, &[], 0);
        newest.indexed(most + 1);
        assert_at(&newest, "bob", most + 1, &[most + 2], most + 2);
    }
}
