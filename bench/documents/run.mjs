// Measures @fetchwork/documents against bare node:sqlite, bare pg, and stores of documents.
//
//   npm run documents -- [rounds] [engines, as in "fetchwork,node-sqlite"] [--large]
//
// Every engine runs in a separate process and is loaded with 10,000 documents; with --large with
// 1,000,000, where the peers are the bare drivers and SQLite only reads. First all must give the
// same answers. Then each round asks every engine in turn to do one work for a fraction of a
// second, one after another (on PostgreSQL ten at a time). CPU time is that of the engine's process
// with its threads, for PostgreSQL that of the client. PostgreSQL keeps fsync on.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { noPostgres, startPostgres } from "../../packages/documents/test/postgres-server.ts";
import { Part } from "../harness/part.ts";
import { ask, check, endEngines, sampling, startEngines } from "./fleet.mjs";
import { sample } from "./sample.mjs";
import { compareTags } from "./tags.mjs";

const isLarge = process.argv.includes("--large");
if (isLarge) process.argv.splice(process.argv.indexOf("--large"), 1);
const part = new Part("documents");
const [enginesText] = part.settings.others;
part.uses("@seald-io/nedb", "lokijs", "pouchdb", "@electric-sql/pglite");
part.uses("pg", "@event-driven-io/pongo", "sequelize");
const total = isLarge ? 1_000_000 : 10_000;
const deep = isLarge ? 30_000 * 30 : total - 30;
const SIZES = [1_000, 10_000, 100_000];
const READ_TIME = 200;
const WRITE_TIME = 400;
/** Rounds until V8 has compiled what a read needs: two seconds, which one round is not. */
const READ_WARM_UP = 10;
const LOADED_CHUNKS = 12;
const READS = {
  get: "get by id",
  list: "list",
  first: "page 1",
  deep: "deep page",
  search: "search",
};
const WRITES = { 1: "insert, 1 writer", 64: "insert, 64 writers" };

const groups = {
  SQLite: ["fetchwork", "node-sqlite", "nedb", "lokijs", "pouchdb", "pglite"],
  PostgreSQL: ["fetchwork", "pg", "pongo", "sequelize"],
};

const folder = mkdtempSync(path.join(os.tmpdir(), "bench-documents-"));
try {
  console.log(`${total} documents of ${JSON.stringify(sample(0, total)).length} bytes`);
  const folderOf = (name) => mkdtempSync(path.join(folder, `${name}-`));
  const optionsOf = (name) => ({ folder: folderOf(name), search: !isLarge });
  await part.attempt("the rest of SQLite", () => compare("SQLite", optionsOf));
  if (!isLarge && enginesText === undefined) {
    await part.attempt("further sizes", () => compareSizes(folderOf));
    await part.attempt("durable inserts", () => compareInserts(folderOf));
  }
  if (!isLarge) {
    const tagsOf = (name) => ({ folder: folderOf(name), tags: true });
    await part.attempt("tags and sums on SQLite", () => compareTagsOf("SQLite", tagsOf));
  }
  if (noPostgres === undefined) await part.attempt("the rest of PostgreSQL", comparePostgres);
  else part.leaveOut("PostgreSQL", noPostgres);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
part.close();

async function comparePostgres() {
  await withPostgres((urlOf) =>
    compare("PostgreSQL", (name) => ({ url: urlOf(name), search: true })),
  );
  if (isLarge) return;
  await withPostgres((urlOf) =>
    compareTagsOf("PostgreSQL", (name) => ({ url: urlOf(name), tags: true })),
  );
}

/** Lets a server run with a database for each engine. */
async function withPostgres(work) {
  const port = await freePort();
  const server = await startPostgres([
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    // What it does on its own would count for the one that is measured just then.
    "autovacuum=off",
  ]);
  try {
    const urls = new Map();
    for (const name of groups.PostgreSQL) {
      const database = new URL((await server.create()).replace("@:", "@localhost:")).pathname;
      urls.set(name, `postgres://postgres@127.0.0.1:${port}${database}`);
    }
    await work((name) => urls.get(name));
  } finally {
    await server.stop();
  }
}

async function compareTagsOf(engine, optionsOf) {
  // The questions to pouchdb would be programs of a view each.
  const names = namesOf(engine).filter((name) => name !== "pouchdb");
  if (names.length < 2) return;
  const settings = { total, inFlight: engine === "PostgreSQL" ? 10 : 1, deep: 0, optionsOf };
  await compareTags(part, `${engine}, tags and sums`, names, settings);
}

/** The engines that are asked for. */
function namesOf(group) {
  return groups[group]
    .slice(0, isLarge ? 2 : undefined)
    .filter((name) => enginesText === undefined || enginesText.split(",").includes(name));
}

async function compare(group, optionsOf) {
  const names = namesOf(group);
  if (names.length < 2) return;
  const isPostgres = group === "PostgreSQL";
  const inFlight = isPostgres ? 10 : 1;
  const engines = await startEngines(names, { total, inFlight, deep, optionsOf });
  await check(engines);
  const loading = [...engines].map(([name, { loading }]) => [name, loading]);
  if (isLarge) {
    const loaded = loading.map(([name, { cpu, rate }]) => [name, [{ value: cpu, rate }]]);
    part.add({ group, work: "bulk load", unit: "CPU µs" }, new Map(loaded));
  }
  const memory = loading.map(([name, { memory }]) => [name, [{ value: memory / 2 ** 20 }]]);
  part.add({ group, work: "grown by the load", unit: "MiB" }, new Map(memory));
  const pages = new Map();
  for (const [work, heading] of Object.entries(READS)) {
    if (isLarge && !isPostgres && work === "search") continue;
    const task = { work, milliseconds: READ_TIME };
    const samples = await part.sample(
      sampling(engines, task, { seconds: 26, warmUp: READ_WARM_UP }),
    );
    part.add({ group, work: heading, unit: "CPU µs" }, samples);
    if (work === "first" || work === "deep") pages.set(work, samples.get("fetchwork"));
  }
  addPages(`${group}, pages`, pages);
  if (!isLarge || isPostgres) {
    for (const [writers, heading] of Object.entries(WRITES)) {
      const task = { work: "insert", milliseconds: WRITE_TIME, writers: Number(writers) };
      const samples = await part.sample(sampling(engines, task, { seconds: 16 }));
      part.add({ group, work: heading, unit: "CPU µs" }, samples);
    }
  }
  if (!isLarge) {
    const task = { work: "load", chunks: LOADED_CHUNKS };
    const samples = await part.sample(sampling(engines, task, { seconds: 45 }));
    part.add({ group, work: "bulk load", unit: "CPU µs" }, samples);
  }
  await endEngines(engines);
}

/** Reads of ever more documents. */
async function compareSizes(folderOf) {
  for (const size of SIZES) {
    const optionsOf = (name) => ({ folder: folderOf(name), search: false });
    const names = ["fetchwork", "node-sqlite"];
    const settings = { total: size, inFlight: 1, deep: size - 30, optionsOf };
    const engines = await startEngines(names, settings);
    await check(engines);
    for (const work of ["get", "list", "deep"]) {
      const group = `SQLite, by number of documents: ${READS[work]}`;
      const name = { group, work: `${size.toLocaleString("en")} documents`, unit: "CPU µs", size };
      await part.compare(
        name,
        sampling(
          engines,
          { work, milliseconds: READ_TIME / 2 },
          { seconds: 9, warmUp: READ_WARM_UP },
        ),
      );
    }
    await endEngines(engines);
  }
}

/** What a deep page costs of the first one, in the same rounds. */
function addPages(group, pages) {
  const ours = { "deep page": pages.get("deep"), "page 1": pages.get("first") };
  const name = { group, work: "deep page", unit: "CPU µs", own: ["deep page", "page 1"] };
  part.add(name, new Map(Object.entries(ours)));
}

/**
 * How long each of 64 inserts takes where all wait for the disk, against a transaction for each,
 * and what the disk and the schema give at best: 64 of bare node:sqlite in a transaction.
 */
async function compareInserts(folderOf) {
  const ways = {
    fetchwork: ["fetchwork", { work: "insert", milliseconds: WRITE_TIME, writers: 64 }],
    "node-sqlite, a transaction each": [
      "node-sqlite",
      { work: "insert", milliseconds: WRITE_TIME, writers: 1 },
    ],
    "node-sqlite, 64 in a transaction": ["node-sqlite", { work: "load", chunks: 80, size: 64 }],
  };
  for (const search of [false, true]) {
    const optionsOf = (name) => ({ folder: folderOf(name), search });
    const settings = { total, inFlight: 1, deep, optionsOf };
    const engines = await startEngines(["fetchwork", "node-sqlite"], settings);
    const work = search ? "with a search index" : "without a search index";
    const name = { group: "Durable inserts of 64 writers", work, unit: "µs" };
    await part.compare(name, {
      names: Object.keys(ways),
      measure: async (way) => {
        const [engine, task] = ways[way];
        const { rate } = await ask(engines.get(engine), task);
        return { value: 1e6 / rate, rate };
      },
      seconds: 20,
    });
    await endEngines(engines);
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
