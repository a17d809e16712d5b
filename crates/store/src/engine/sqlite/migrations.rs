//! The migrations of `SQLite`, in order. A released one never changes.

use crate::engine::migrate::Migrations;

pub(crate) const MIGRATIONS: Migrations = &[
    ("initial", include_str!("../../../migrations/sqlite/0001_initial.sql")),
    ("chain", include_str!("../../../migrations/sqlite/0002_chain.sql")),
    ("screening", include_str!("../../../migrations/sqlite/0003_screening.sql")),
    ("owners", include_str!("../../../migrations/sqlite/0004_owners.sql")),
    ("items", include_str!("../../../migrations/sqlite/0005_items.sql")),
    ("lists", include_str!("../../../migrations/sqlite/0006_lists.sql")),
    ("owners apart", include_str!("../../../migrations/sqlite/0007_owners_apart.sql")),
    ("deployment", include_str!("../../../migrations/sqlite/0008_deployment.sql")),
    ("listing documents", include_str!("../../../migrations/sqlite/0009_listing_documents.sql")),
    ("sandbox clock", include_str!("../../../migrations/sqlite/0010_sandbox_clock.sql")),
    ("listing versions", include_str!("../../../migrations/sqlite/0011_listing_versions.sql")),
    ("wallet claims", include_str!("../../../migrations/sqlite/0012_wallet_claims.sql")),
    ("applications", include_str!("../../../migrations/sqlite/0013_applications.sql")),
    ("audit key", include_str!("../../../migrations/sqlite/0014_audit_key.sql")),
    ("concurrency", include_str!("../../../migrations/sqlite/0015_concurrency.sql")),
    ("budgets", include_str!("../../../migrations/sqlite/0016_budgets.sql")),
    ("key expiry", include_str!("../../../migrations/sqlite/0017_key_expiry.sql")),
    ("tenants", include_str!("../../../migrations/sqlite/0018_tenants.sql")),
    ("portfolio history", include_str!("../../../migrations/sqlite/0019_portfolio_history.sql")),
    ("transactions", include_str!("../../../migrations/sqlite/0020_transactions.sql")),
];

pub(super) const KEYSTORE_MIGRATIONS: Migrations = &[
    ("keys", include_str!("../../../migrations/sqlite-keys/0001_keys.sql")),
    ("identity", include_str!("../../../migrations/sqlite-keys/0002_identity.sql")),
    ("key ids", include_str!("../../../migrations/sqlite-keys/0003_key_ids.sql")),
    ("moving", include_str!("../../../migrations/sqlite-keys/0004_moving.sql")),
];
