'use strict'
// The table and the connection settings, shared by server.js and load.js.
const Database = require('better-sqlite3')

exports.COLUMNS = ['listingId', 'userId', 'streetAddress', 'city', 'state', 'postalCode',
  'monthlyRent', 'bedRoomCount', 'bathroomCount']

exports.open = function (path) {
  const db = new Database(path, { timeout: 10000 })
  db.pragma('journal_mode = WAL')
  // better-sqlite3 is built with NORMAL as its WAL default, under which an answered
  // POST can be lost to a power cut. Every server of the benchmark runs FULL.
  db.pragma('synchronous = FULL')
  // The same page cache and temp store as PocketBase gives itself.
  db.pragma('cache_size = -32000')
  db.pragma('temp_store = MEMORY')
  return db
}

exports.createTable = function (db) {
  db.exec(`CREATE TABLE listings (
    id INTEGER PRIMARY KEY,
    listingId TEXT NOT NULL, userId TEXT NOT NULL, streetAddress TEXT NOT NULL,
    city TEXT NOT NULL, state TEXT NOT NULL, postalCode TEXT NOT NULL,
    monthlyRent REAL NOT NULL, bedRoomCount INTEGER NOT NULL, bathroomCount INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX listings_listingId ON listings (listingId);
  CREATE INDEX listings_userId ON listings (userId);`)
}

exports.insertSql = (columns) =>
  `INSERT INTO listings (${columns.join(', ')}) VALUES (${columns.map((c) => '@' + c).join(', ')})`
