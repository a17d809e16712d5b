//! `/v1/listing-clusters`: listings on a map.

use portico_domain::clusters::{self, Cluster, Zoom};
use portico_domain::listings::ListingFilter;
use portico_domain::{Degrees, FaultCode, ListingId, Money, Street, ValidationError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};

use crate::access::PUBLIC;
use crate::input::{Input, Param, Reader};
use crate::operation::{Context, Operation, get};
use crate::problem::Result;
use crate::reply::Json;
use crate::root::listings::Conditions;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/v1/listing-clusters", PUBLIC, list)
            .id("listListingClusters")
            .about("Takes the conditions of `GET /listings`.")
            .summary("Listings that fit every condition given, counted and grouped for a map")
            .tagged("Listings"),
    ]
}

impl Param for Zoom {
    fn schema() -> RefOr<Schema> {
        let integer = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer));
        integer.minimum(Some(0)).maximum(Some(utoipa::Number::from(usize::from(Self::MAX)))).into()
    }
    fn from_text(text: &str) -> std::result::Result<Self, ValidationError> {
        let fault = || {
            let message = format!("must be a whole number from 0 to {}", Self::MAX);
            ValidationError::new(FaultCode::OutOfRange, message).between(0, Self::MAX.into())
        };
        text.parse().ok().and_then(Self::new).ok_or_else(fault)
    }
}

struct Clusters {
    filter: ListingFilter,
    zoom: Zoom,
}

impl Input for Clusters {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let Conditions(filter) = Conditions::read(from);
        let zoom = from.required_query("zoom", "The map's zoom level: at 0 the world has 256 pixels");
        Some(Self { filter, zoom: zoom? })
    }
}

/// Listings grouped by a grid of about 64 pixels; neighbours whose markers would hide each other are one group
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ListingClusters {
    /// Listings that fit, also those without a place
    total: u64,
    /// Whether all were counted; if not, `total` is a lower bound
    is_exact: bool,
    /// At most 400
    clusters: Vec<ListingCluster>,
}

/// One or more listings that are close to each other
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ListingCluster {
    count: u64,
    /// Degrees north, the mean
    #[schema(value_type = f64)]
    latitude: Degrees,
    /// Degrees east, the mean
    #[schema(value_type = f64)]
    longitude: Degrees,
    #[schema(value_type = f64)]
    west: Degrees,
    #[schema(value_type = f64)]
    south: Degrees,
    #[schema(value_type = f64)]
    east: Degrees,
    #[schema(value_type = f64)]
    north: Degrees,
    /// If there is only one
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    listing: Option<MapListing>,
}

/// A listing as a map shows it
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MapListing {
    #[schema(value_type = String)]
    listing_id: ListingId,
    #[schema(value_type = String)]
    street_address: Street,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, nullable = false)]
    monthly_rent: Option<Money>,
}

impl From<Cluster<clusters::MapListing>> for ListingCluster {
    fn from(cluster: Cluster<clusters::MapListing>) -> Self {
        let Cluster { count, latitude, longitude, bounds, only } = cluster;
        let listing = only.map(|clusters::MapListing { id, street, rent }| MapListing {
            listing_id: id,
            street_address: street,
            monthly_rent: rent,
        });
        let clusters::Bounds { west, south, east, north } = bounds;
        Self { count, latitude, longitude, west, south, east, north, listing }
    }
}

async fn list(cx: Context, Clusters { filter, zoom }: Clusters) -> Result<Json<ListingClusters>> {
    let found = cx.app().listings.clusters(&cx.call, &filter, zoom).await?;
    Ok(Json(ListingClusters {
        total: found.total,
        is_exact: found.is_exact,
        clusters: found.clusters.into_iter().map(Into::into).collect(),
    }))
}
