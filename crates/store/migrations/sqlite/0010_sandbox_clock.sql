-- How far calendar time is ahead of the machine's clock, in microseconds. Only a sandbox moves it.
ALTER TABLE deployment ADD COLUMN clock_ahead INTEGER NOT NULL DEFAULT 0;
