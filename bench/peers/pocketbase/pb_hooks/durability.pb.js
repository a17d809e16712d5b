/// <reference path="../pb_data/types.d.ts" />
// The stock binary opens SQLite with synchronous=NORMAL and has no flag for it. All its
// writes go through one connection (nonconcurrentDB: a pool of one), so one PRAGMA there
// gives every POST the durability of the other servers. The pool drops a connection after
// three idle minutes; a run starts at once, and `run` asks /bench/synchronous afterwards.
onBootstrap((e) => {
  e.next(); // opens the databases
  e.app.nonconcurrentDB().newQuery("PRAGMA synchronous = FULL").execute();
});

routerAdd("GET", "/bench/synchronous", (e) => {
  const row = new DynamicModel({ synchronous: -1 });
  $app.nonconcurrentDB().newQuery("PRAGMA synchronous").one(row);
  return e.json(200, row);
});
