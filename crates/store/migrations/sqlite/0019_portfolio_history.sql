-- One row per edit of a user's portfolio, with the changed fields as JSON.
CREATE TABLE portfolio_history (
    portfolio_id TEXT NOT NULL,
    number       INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    changes      TEXT NOT NULL,
    PRIMARY KEY (portfolio_id, number)
) STRICT, WITHOUT ROWID;
