-- By what a row of the database refers to a person: a random id that means nothing once the key is destroyed.
ALTER TABLE keys ADD COLUMN id BLOB NOT NULL DEFAULT x'';
UPDATE keys SET id = randomblob(16);
CREATE UNIQUE INDEX keys_id ON keys (id);
