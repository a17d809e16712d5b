-- A listing is one JSON document; the columns beside it are those that have an index.
ALTER TABLE listings ADD COLUMN document TEXT COLLATE "C";
UPDATE listings SET document = json_strip_nulls(json_build_object(
    'id', id, 'user', user_id, 'street', street, 'city', city, 'state', state, 'postal', postal, 'country', country,
    'rent', rent / 10000.0, 'property_value', property_value / 10000.0, 'bedrooms', bedrooms, 'bathrooms', bathrooms,
    'place', CASE WHEN latitude IS NOT NULL THEN
        json_build_object('latitude', latitude / 1000000000.0, 'longitude', longitude / 1000000000.0) END,
    'walkthrough', walkthrough));
ALTER TABLE listings ALTER COLUMN document SET NOT NULL, DROP COLUMN street, DROP COLUMN city, DROP COLUMN state,
    DROP COLUMN country, DROP COLUMN property_value, DROP COLUMN latitude, DROP COLUMN longitude, DROP COLUMN walkthrough;
