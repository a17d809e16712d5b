//! Listings that several callers ask for at the same moment are read together.
//!
//! While one question is on its way to the server, callers gather behind it, and the next question asks for all
//! of theirs. A question is sent after everybody in it has asked, so that each sees what was committed before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portico_domain::ListingId;
use portico_domain::listings::Listing;
use tokio::sync::oneshot;

use super::Postgres;
use crate::sql::{Sql, Weight};
use crate::{Error, Result};

/// So many are asked for at once, at most.
const TOGETHER: usize = 256;
/// Between the ids of one question. No id has a control character.
const SEPARATOR: &str = "\u{1f}";

type Found = Result<Option<Arc<Listing>>>;

#[derive(Debug, Default)]
pub(super) struct Gather(Mutex<Gathered>);

#[derive(Debug, Default)]
struct Gathered {
    waiting: Vec<(ListingId, oneshot::Sender<Found>)>,
    /// Whether somebody is going to ask for those who wait.
    asking: bool,
}

impl Gather {
    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Postgres {
    /// A listing by its id. `together` finds listings by their ids, which are separated by [`SEPARATOR`].
    pub(crate) async fn listing(&self, together: &'static Sql, id: &ListingId) -> Found {
        let (answer, answered) = oneshot::channel();
        let first = {
            let mut gathered = self.0.gather.lock();
            gathered.waiting.push((id.clone(), answer));
            !std::mem::replace(&mut gathered.asking, true)
        };
        if first {
            // In a task of its own: the others are answered also if this caller hangs up.
            tokio::spawn(Asking { of: self.clone(), done: false }.run(together));
        }
        answered.await.unwrap_or_else(|_| Err(Error::Bug("a listing was not asked for".into())))
    }
}

/// Asks until nobody waits any more.
struct Asking {
    of: Postgres,
    done: bool,
}

impl Asking {
    async fn run(mut self, together: &'static Sql) {
        loop {
            let asked = {
                let mut gathered = self.of.0.gather.lock();
                if gathered.waiting.is_empty() {
                    gathered.asking = false;
                    self.done = true;
                    return;
                }
                let some = gathered.waiting.len().min(TOGETHER);
                gathered.waiting.drain(..some).collect::<Vec<_>>()
            };
            let ids: Vec<&str> = asked.iter().map(|(id, _)| id.as_str()).collect();
            let ids = ids.join(SEPARATOR);
            match self.of.read::<Listing>(together, &[ids.as_str().into()], Weight::Point).await {
                Ok(found) => {
                    let found: HashMap<ListingId, Arc<Listing>> =
                        found.into_iter().map(|listing| (listing.id.clone(), Arc::new(listing))).collect();
                    for (id, answer) in asked {
                        // Who hung up is not told.
                        let _ = answer.send(Ok(found.get(&id).cloned()));
                    }
                }
                Err(error) => {
                    for (_, answer) in asked {
                        let _ = answer.send(Err(error.clone()));
                    }
                }
            }
        }
    }
}

/// If it breaks off, the next caller starts anew.
impl Drop for Asking {
    fn drop(&mut self) {
        if !self.done {
            self.of.0.gather.lock().asking = false;
        }
    }
}
