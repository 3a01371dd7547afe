// Measures @fetchwork/documents on one PostgreSQL, on the same in distributed mode, and on Citus
// with two workers, where this extension is installed:
//
//   npm run documents-distributed -- [documents] [rounds]
//
// All servers run on this machine, without waiting for the disk, and share its cores: so the
// figures show what the mode and the way over another server cost, and not what more machines
// bring. Each round asks every store in turn to do one work for a fraction of a second, as many at
// a time as the work says.
import { findCitus, startCitus } from "../../packages/documents/test/citus-cluster.ts";
import { startPostgres } from "../../packages/documents/test/postgres-server.ts";
import { defineCollection, openStore } from "../../packages/documents/src/index.ts";
import { commonTag, rareTagOf, sample } from "./sample.mjs";

const total = Number(process.argv[2] ?? 10_000);
const rounds = Number(process.argv[3] ?? 7);
const timePerWork = 300;
let turns = 0;
const options = { indexes: [["author", "rank"], "rank", "tags"] };
const docs = defineCollection("docs", options);
const others = defineCollection("others", options);

const works = [
  ["get", 1, ({ collection, ids }, turn) => collection.get(ids[(turn * 7919) % ids.length])],
  [
    "list",
    1,
    ({ collection }, turn) =>
      collection.find({
        where: { author: sample(turn, total).author },
        sort: ["-rank"],
        limit: 30,
      }),
  ],
  ["page", 1, ({ collection }) => collection.page({ sort: ["rank"], limit: 30 })],
  [
    "page by a rare tag",
    1,
    ({ collection }, turn) => pageOf(collection, rareTagOf((turn * 7919) % (total / 20))),
  ],
  ["page by a common tag", 1, ({ collection }) => pageOf(collection, commonTag)],
  ["insert, 1 writer", 1, ({ collection }, turn) => collection.insert(sample(turn, total))],
  ["insert, 64 writers", 64, ({ collection }, turn) => collection.insert(sample(turn, total))],
  [
    "transaction over two collections",
    1,
    ({ store, ids }, turn) =>
      store.transaction(async (transaction) => {
        const id = ids[(turn * 7919) % ids.length];
        await transaction.collection(docs).update(id, { rank: turn });
        await transaction.collection(others).insert(sample(turn, total));
      }),
  ],
];

const postgres = await startPostgres();
const bin = findCitus();
const cluster = bin === undefined ? undefined : await startCitus(bin);
if (cluster === undefined) console.log("Citus is not installed: it is left out");
try {
  const stores = [
    ["PostgreSQL", await filled(await postgres.create(), false)],
    ["distributed mode", await filled(await postgres.create(), true)],
    ...(cluster === undefined ? [] : [["Citus", await filled(cluster.url, true)]]),
  ];
  console.log(`${total} documents, median of ${rounds} rounds, milliseconds for each operation`);
  for (const work of works) {
    const figures = await compare(stores, work);
    console.log(`${String(work[0])}: ${figures.join(", ")}`);
  }
  for (const [, { store }] of stores) await store.close();
} finally {
  await cluster?.stop();
  await postgres.stop();
}

/** Asks every store in turn to do a work, round by round; the first round is not counted. */
async function compare(stores, [, atOnce, work]) {
  const times = stores.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [place, [, opened]] of stores.entries()) {
      const time = await measure((turn) => work(opened, turn), atOnce);
      if (round > 0) times[place]?.push(time);
    }
  }
  return stores.map(
    ([engine], place) => `${String(engine)} ${median(times[place] ?? []).toFixed(2)}`,
  );
}

/** Returns the time of one operation, in milliseconds. */
async function measure(work, atOnce) {
  const began = performance.now();
  let count = 0;
  const run = async () => {
    while (performance.now() - began < timePerWork) {
      turns += 1;
      count += 1;
      await work(turns);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  return (performance.now() - began) / count;
}

function pageOf(collection, tag) {
  return collection.page({ where: { tags: { contains: tag } }, sort: ["rank"], limit: 30 });
}

async function filled(url, distributed) {
  const store = await openStore(url, { collections: [docs, others], postgres: { distributed } });
  const collection = store.collection(docs);
  const ids = [];
  for (let number = 0; number < total; number += 5000) {
    const length = Math.min(5000, total - number);
    const chunk = Array.from({ length }, (_, index) => sample(number + index, total));
    for (const { id } of await collection.insertMany(chunk)) ids.push(id);
  }
  return { store, collection, ids };
}

function median(values) {
  return values.toSorted((one, other) => one - other)[values.length >> 1];
}
