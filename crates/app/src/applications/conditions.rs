//! What an application to a listing is submitted under: the listing's terms, and the checks that are required.

use std::collections::BTreeMap;

use portico_domain::chain::Terms;
use portico_domain::{AccountId, ClientId, Country, Label, ListingId, UserId};
use portico_screening::Check;
use portico_store::{ListingItem, StoredListing};

use super::evaluation::checks_of_terms;
use super::service::Applications;
use super::tag::tag_of;
use crate::caller::CallContext;
use crate::error::Result;

/// The tags of the conditions that an applicant has seen, by listing.
pub type SeenConditions = BTreeMap<String, String>;

/// What an application freezes of its listing.
pub(crate) struct Conditions {
    pub(crate) owner: UserId,
    pub(crate) account: AccountId,
    pub(crate) terms: Option<Terms>,
    pub(crate) checks: Vec<RequiredCheck>,
    pub(crate) country: Country,
    pub(crate) client: Option<ClientId>,
}

/// A required check, and why it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequiredCheck {
    pub check: Check,
    /// The pipeline of the owner's account asks for it.
    pub by_pipeline: bool,
    /// The listing's terms need it.
    pub by_terms: bool,
}

/// What everybody may know before they apply.
#[derive(Debug)]
pub struct PublicConditions {
    pub listing: ListingId,
    /// `None`: the listing has no terms.
    pub terms: Option<Terms>,
    pub checks: Vec<RequiredCheck>,
    /// Where the bureaus have to have searched.
    pub country: Country,
    pub client: Option<ClientId>,
    /// The newest text to consent to.
    pub consent_version: Option<Label>,
    /// Changes with everything here.
    pub tag: String,
}

impl Conditions {
    pub(crate) fn required(&self) -> Vec<Check> {
        self.checks.iter().map(|required| required.check).collect()
    }

    fn tag(&self, listing: &StoredListing, consent_version: Option<&Label>) -> String {
        let Self { owner, account, terms, checks, country, client } = self;
        let number = listing.version.seq;
        let terms = terms.map(|terms| terms.units());
        tag_of(&(number, owner, account, terms, checks, country, client, consent_version))
    }
}

impl Applications {
    /// Open to everyone, as the listing is.
    pub async fn conditions(&self, _: &CallContext, id: &ListingId) -> Result<PublicConditions> {
        let stored = self.core.stored_listing(id).await?;
        let conditions = self.conditions_of(&stored).await?;
        let tag = self.tag(&conditions, &stored);
        let Conditions { terms, checks, country, client, .. } = conditions;
        let consent_version = self.core.screening.consents.newest();
        Ok(PublicConditions { listing: id.clone(), terms, checks, country, client, consent_version, tag })
    }

    pub(super) fn tag(&self, conditions: &Conditions, stored: &StoredListing) -> String {
        conditions.tag(stored, self.core.screening.consents.newest().as_ref())
    }

    /// The terms, and the checks that these need or that the pipeline of the owner's account asks for.
    pub(super) async fn conditions_of(&self, stored: &StoredListing) -> Result<Conditions> {
        let StoredListing { listing, item, .. } = stored;
        let terms = item.as_ref().map(ListingItem::terms).transpose()?;
        let tenant = self.core.db.tenant_of(&listing.user).await?;
        let of_terms = terms.as_ref().map(checks_of_terms).unwrap_or_default();
        let pipeline = self.core.db.pipeline(&tenant).await?;
        let checks = Check::ALL.into_iter().map(|check| RequiredCheck {
            check,
            by_pipeline: pipeline.as_ref().is_some_and(|pipeline| check.required_by(pipeline)),
            by_terms: of_terms.contains(&check),
        });
        let checks = checks.filter(|required| required.by_pipeline || required.by_terms).collect();
        let (country, client) = pipeline.map_or((None, None), |pipeline| (pipeline.country, pipeline.client));
        let country = country.unwrap_or_else(|| self.core.country.clone());
        let account = AccountId::stored(tenant.name());
        Ok(Conditions { owner: listing.user.clone(), account, terms, checks, country, client })
    }
}
