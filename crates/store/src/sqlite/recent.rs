//! Listings that were read lately, kept in memory.
//!
//! A listing never changes: it comes, and it goes. So what was read stays true until the listing is deleted, and
//! the writer has it forgotten after the commit and before anybody is told. Whoever was reading it meanwhile
//! finds the place taken away that it was going to be kept in, and keeps nothing.

use std::sync::Arc;
use std::time::Duration;

use portico_domain::ListingId;
use portico_domain::listings::Listing;
use quick_cache::Weighter;
use quick_cache::sync::{Cache, GuardResult};

use crate::Result;

/// How much is kept, about.
const BYTES: u64 = 48 << 20;
/// So many listings of the usual size.
const LISTINGS: usize = 100_000;

pub(super) struct Recent(Cache<ListingId, Arc<Listing>, Size>);

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
        read: impl FnOnce() -> Result<Option<Listing>>,
    ) -> Result<Option<Arc<Listing>>> {
        match self.0.get_value_or_guard(id, Some(Duration::ZERO)) {
            GuardResult::Value(listing) => Ok(Some(listing)),
            GuardResult::Guard(place) => {
                let listing = read()?.map(Arc::new);
                if let Some(listing) = &listing {
                    // Refused if it was forgotten meanwhile.
                    let _ = place.insert(listing.clone());
                }
                Ok(listing)
            }
            // Another thread is reading it.
            GuardResult::Timeout => Ok(read()?.map(Arc::new)),
        }
    }

    pub(super) fn forget(&self, id: &ListingId) {
        self.0.remove(id);
    }

    pub(super) fn forget_all(&self) {
        self.0.clear();
    }
}

/// How many bytes a listing takes.
#[derive(Clone)]
struct Size;

impl Weighter<ListingId, Arc<Listing>> for Size {
    fn weight(&self, _: &ListingId, listing: &Arc<Listing>) -> u64 {
        let Listing { id, user, street, city, state, postal, country, walkthrough, .. } = &**listing;
        let texts = [id.as_str(), user.as_str(), street.as_str(), city.as_str()]
            .into_iter()
            .chain([state.as_str(), postal.as_str(), country.as_str()])
            .chain(walkthrough.as_ref().map(portico_domain::Link::as_str));
        // The entry itself, with its key and its place in the table; texts are counted even where they are short
        // enough to need no memory of their own.
        (size_of::<Listing>() + size_of::<ListingId>() + 64 + texts.map(str::len).sum::<usize>()) as u64
    }
}
