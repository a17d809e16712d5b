-- An owner's listings beside each other, each as one text (store/listings.rs reads it): to take fourteen values out of
-- a row costs more than what is in them.
DROP INDEX listings_user;
CREATE INDEX listings_user ON listings (
    user_id, seq,
    concat_ws(char(31), id, user_id, street, city, state, postal, country, coalesce(rent, char(30)),
        coalesce(property_value, char(30)), coalesce(bedrooms, char(30)), coalesce(bathrooms, char(30)),
        coalesce(latitude, char(30)), coalesce(longitude, char(30)), coalesce(walkthrough, char(30))));
