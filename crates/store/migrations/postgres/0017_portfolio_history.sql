-- One row per edit of a user's portfolio, with the changed fields as JSON.
CREATE TABLE portfolio_history (
    portfolio_id TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    changes      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (portfolio_id, number)
);
