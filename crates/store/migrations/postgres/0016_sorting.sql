-- Listings in order of rent and of size, those without one last.
DROP INDEX listings_rent;
CREATE INDEX listings_rent ON listings ((coalesce(rent, 9223372036854775807)), seq);
CREATE INDEX listings_size ON listings ((coalesce(-bedrooms, 1)), seq);
