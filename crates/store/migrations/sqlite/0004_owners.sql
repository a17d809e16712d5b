-- An owner's listings beside each other, whole: scattered over the table, each of them costs a read of its own.
DROP INDEX listings_user;
CREATE INDEX listings_user ON listings (
    user_id, seq, id, street, city, state, postal, country, rent, property_value, bedrooms, bathrooms,
    latitude, longitude, walkthrough);
