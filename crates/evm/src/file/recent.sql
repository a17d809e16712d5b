-- What the newest blocks have changed of slots that are not all in their places yet, one row for each block:
-- account (4 bytes), key (32), the length of the value (1) and the value, again and again.
CREATE TABLE recent (
    block  INTEGER PRIMARY KEY,
    slots  BLOB NOT NULL
) STRICT;
