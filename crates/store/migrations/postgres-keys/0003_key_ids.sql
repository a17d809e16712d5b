-- By what a row of the database refers to a person: a random id that means nothing once the key is destroyed.
ALTER TABLE keys ADD COLUMN id BYTEA NOT NULL DEFAULT '';
UPDATE keys SET id = uuid_send(gen_random_uuid());
CREATE UNIQUE INDEX keys_id ON keys (id);
