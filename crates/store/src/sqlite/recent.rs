//! Listings that were read lately, kept in memory.
//!
//! A listing never changes: it comes, and it goes. So what was read stays true until the listing is deleted, and
//! the writer has it forgotten after the commit and before anybody is told. Whoever was reading it meanwhile
//! finds the place taken away that it was going to be kept in, and keeps nothing.
//!
//! Each is kept as the one text that the database gives: more of them fit than of listings with fields of their own.

use std::sync::Arc;
use std::time::Duration;

use portico_domain::ListingId;
use quick_cache::Weighter;
use quick_cache::sync::{Cache, GuardResult};

use crate::Result;

/// How much is kept, about.
const BYTES: u64 = 160 << 20;
/// What to remember is counted by this: half as many that had to go, so that they are kept longer when they come
/// back.
const LISTINGS: usize = 100_000;
/// An entry without its texts: its place in the table, its key, the counters of the text.
const ENTRY: usize = 96;

pub(super) struct Recent(Cache<ListingId, Arc<str>, Size>);

impl std::fmt::Debug for Recent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recent").field("listings", &self.0.len()).finish()
    }
}

impl Default for Recent {
    fn default() -> Self {
        Self(Cache::with_weighter(LISTINGS, BYTES, Size))
    }
}

impl Recent {
    /// A listing from memory, or else by `read`, which must see everything that was acknowledged.
    pub(super) fn get(
        &self,
        id: &ListingId,
        read: impl FnOnce() -> Result<Option<Arc<str>>>,
    ) -> Result<Option<Arc<str>>> {
        match self.0.get_value_or_guard(id, Some(Duration::ZERO)) {
            GuardResult::Value(listing) => Ok(Some(listing)),
            GuardResult::Guard(place) => {
                let listing = read()?;
                if let Some(listing) = &listing {
                    // Refused if it was forgotten meanwhile.
                    let _ = place.insert(listing.clone());
                }
                Ok(listing)
            }
            // Another thread is reading it.
            GuardResult::Timeout => read(),
        }
    }

    pub(super) fn forget(&self, id: &ListingId) {
        self.0.remove(id);
    }

    pub(super) fn forget_all(&self) {
        self.0.clear();
    }
}

/// How many bytes a listing takes, about.
#[derive(Clone)]
struct Size;

impl Weighter<ListingId, Arc<str>> for Size {
    fn weight(&self, id: &ListingId, listing: &Arc<str>) -> u64 {
        // The id is counted even where it is short enough to need no memory of its own.
        (ENTRY + id.as_str().len() + listing.len()) as u64
    }
}
