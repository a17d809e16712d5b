//! The migrations of `PostgreSQL`, in order. A released one never changes.

use crate::engine::migrate::Migrations;

pub(crate) const MIGRATIONS: Migrations = &[
    ("initial", include_str!("../../../migrations/postgres/0001_initial.sql")),
    ("chain", include_str!("../../../migrations/postgres/0002_chain.sql")),
    ("screening", include_str!("../../../migrations/postgres/0003_screening.sql")),
    ("deployment", include_str!("../../../migrations/postgres/0004_deployment.sql")),
    ("listing documents", include_str!("../../../migrations/postgres/0005_listing_documents.sql")),
    ("sandbox clock", include_str!("../../../migrations/postgres/0006_sandbox_clock.sql")),
    ("listing versions", include_str!("../../../migrations/postgres/0007_listing_versions.sql")),
    ("wallet claims", include_str!("../../../migrations/postgres/0008_wallet_claims.sql")),
    ("applications", include_str!("../../../migrations/postgres/0009_applications.sql")),
    ("audit key", include_str!("../../../migrations/postgres/0010_audit_key.sql")),
    ("concurrency", include_str!("../../../migrations/postgres/0011_concurrency.sql")),
    ("budgets", include_str!("../../../migrations/postgres/0012_budgets.sql")),
    ("key expiry", include_str!("../../../migrations/postgres/0013_key_expiry.sql")),
    ("tenants", include_str!("../../../migrations/postgres/0014_tenants.sql")),
    ("clusters", include_str!("../../../migrations/postgres/0015_clusters.sql")),
    ("sorting", include_str!("../../../migrations/postgres/0016_sorting.sql")),
    ("portfolio history", include_str!("../../../migrations/postgres/0017_portfolio_history.sql")),
    ("transactions", include_str!("../../../migrations/postgres/0018_transactions.sql")),
];

pub(super) const KEYSTORE_MIGRATIONS: Migrations = &[
    ("keys", include_str!("../../../migrations/postgres-keys/0001_keys.sql")),
    ("identity", include_str!("../../../migrations/postgres-keys/0002_identity.sql")),
    ("key ids", include_str!("../../../migrations/postgres-keys/0003_key_ids.sql")),
    ("moving", include_str!("../../../migrations/postgres-keys/0004_moving.sql")),
];
