'use strict'
// node load.js N DB [pocketbase]
// Fills DB with rows bench-0 .. bench-(N-1). With "pocketbase", DB is the data.db of a
// stopped PocketBase whose migration has already made the table; rows then also get a
// record id that can be computed from their number (b + 14 digits), for reads by id.
const { open, createTable, insertSql, COLUMNS } = require('./db')

const [count, path, kind] = process.argv.slice(2)
const rows = Number(count)
if (!Number.isInteger(rows) || rows < 1 || !path) {
  console.error('usage: load.js N DB [pocketbase]')
  process.exit(2)
}
const users = Math.max(1, Math.floor(rows / 20))
const STREETS = ['Maple Avenue', 'Oak Street', 'Washington Boulevard', 'Cedar Lane',
  'Lakeview Drive', 'Sunset Terrace', 'Highland Road']
const PLACES = [['Seattle', 'WA', 98101], ['Portland', 'OR', 97201], ['Austin', 'TX', 73301],
  ['Denver', 'CO', 80202], ['Chicago', 'IL', 60601]]

function row (i) {
  const [city, state, zip] = PLACES[i % PLACES.length]
  return {
    id: 'b' + String(i).padStart(14, '0'),
    listingId: `bench-${i}`,
    userId: `user-${i % users}`,
    streetAddress: `${100 + (i * 37) % 9900} ${STREETS[i % STREETS.length]} Apt ${1 + i % 48}`,
    city,
    state,
    postalCode: String(zip + i % 60).padStart(5, '0'),
    monthlyRent: 900 + (i * 13) % 4100,
    bedRoomCount: 1 + i % 5,
    bathroomCount: 1 + i % 3
  }
}

const db = open(path)
if (kind !== 'pocketbase') createTable(db)
const insert = db.prepare(insertSql(kind === 'pocketbase' ? ['id', ...COLUMNS] : COLUMNS))
const fill = db.transaction((from, to) => { for (let i = from; i < to; i++) insert.run(row(i)) })
for (let i = 0; i < rows; i += 50000) fill(i, Math.min(i + 50000, rows))
db.exec('ANALYZE')
db.pragma('wal_checkpoint(TRUNCATE)') // a run starts from an empty log
db.close()
