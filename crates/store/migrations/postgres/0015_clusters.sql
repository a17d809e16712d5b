-- Clusters of a map are counted from this index alone: with what a search on the map filters by.
DROP INDEX listings_place;
CREATE INDEX listings_place ON listings (morton, seq) INCLUDE (rent, bedrooms, bathrooms);
