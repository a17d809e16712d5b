'use strict'
// Peer server: listings over Fastify and better-sqlite3.
// Env: PORT, DB (filled by load.js), WORKERS (default 1: one process, no cluster).
const cluster = require('node:cluster')
const workers = Number(process.env.WORKERS || 1)

if (workers > 1 && cluster.isPrimary) {
  for (let i = 0; i < workers; i++) cluster.fork()
  const stop = () => { for (const w of Object.values(cluster.workers)) w.process.kill() }
  process.on('SIGTERM', stop).on('SIGINT', stop) // the primary ends with its last worker
} else {
  serve()
}

function serve () {
  const { open, insertSql, COLUMNS } = require('./db')
  const db = open(process.env.DB)
  const find = db.prepare(`SELECT ${COLUMNS.join(', ')} FROM listings WHERE listingId = ?`)
  const insert = db.prepare(insertSql(COLUMNS)) // autocommit: one transaction per POST

  const text = { type: 'string', minLength: 1, maxLength: 200 }
  const whole = { type: 'integer', minimum: 0 }
  const listing = {
    type: 'object',
    required: COLUMNS,
    additionalProperties: false,
    properties: {
      listingId: text,
      userId: text,
      streetAddress: text,
      city: text,
      state: text,
      postalCode: text,
      monthlyRent: { type: 'number', minimum: 0 },
      bedRoomCount: whole,
      bathroomCount: whole
    }
  }
  const message = { type: 'object', properties: { message: { type: 'string' } } }

  const app = require('fastify')({ logger: false })

  // Synchronous replies through reply.send: better-sqlite3 never waits, so an async
  // handler would only add a promise to every request.
  app.get('/listings', {
    schema: {
      querystring: { type: 'object', required: ['listingId'], properties: { listingId: text } },
      response: { 200: { type: 'array', items: listing } }
    }
  }, (request, reply) => { reply.send(find.all(request.query.listingId)) })

  app.post('/listings', {
    schema: { body: listing, response: { 201: message, 409: message } }
  }, (request, reply) => {
    try {
      insert.run(request.body)
    } catch (e) {
      if (e.code !== 'SQLITE_CONSTRAINT_UNIQUE') throw e
      reply.code(409).send({ message: 'A listing with this listingId exists' })
      return
    }
    reply.code(201).send({ message: 'Listing created' })
  })

  app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) }).catch((e) => {
    console.error(e)
    process.exit(1)
  })
  process.on('SIGTERM', () => process.exit(0))
}
