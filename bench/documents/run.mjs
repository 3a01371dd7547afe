// Measures @fetchwork/documents against bare node:sqlite, bare pg, and stores of documents.
//
//   npm run documents -- [rounds] [engines, as in "fetchwork,node-sqlite"] [--large]
//
// Every engine runs in a process of its own and is loaded with 10,000 documents; with --large with 1,000,000, where the
// peers are the bare drivers and SQLite only reads. First all must give the same answers. Then each round asks every engine in turn, in another order each
// time, to do one work for a fraction of a second, one after another (on PostgreSQL ten at a time). Round 0 warms up. The
// tables have medians, and ratios of CPU time, ours over theirs, round by round: median, and lowest to highest. CPU time is
// that of the engine's process with its threads, for PostgreSQL that of the client. PostgreSQL keeps fsync on.
import { deepStrictEqual } from "node:assert";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { NO_POSTGRES, startPostgres } from "../../packages/documents/test/postgres-server.ts";
import { sample } from "./sample.mjs";

const isLarge = process.argv.includes("--large");
const [roundsText = "5", enginesText] = process.argv.slice(2).filter((text) => text !== "--large");
const rounds = Number(roundsText);
const total = isLarge ? 1_000_000 : 10_000;
const deep = isLarge ? 30_000 * 30 : total - 30;
const READ_TIME = 200;
const WRITE_TIME = 400;
const READS = {
  get: "get by id",
  list: "list",
  first: "page 1",
  deep: "deep page",
  search: "search",
};
const WRITES = { 1: "insert, 1 writer", 64: "insert, 64 writers" };

const groups = {
  "In the process": ["fetchwork", "node-sqlite", "nedb", "lokijs", "pouchdb", "pglite"],
  PostgreSQL: ["fetchwork", "pg", "pongo", "sequelize"],
};

// Whoever waits for a process that failed goes on, so that folders and servers are removed.
const failed = new AbortController();
const folder = mkdtempSync(path.join(os.tmpdir(), "bench-documents-"));
try {
  console.log(
    `Node ${process.version}, ${os.cpus()[0]?.model}, ${os.availableParallelism()} cores, load ${os.loadavg()[0].toFixed(0)}`,
  );
  console.log(versions());
  console.log(`${total} documents of ${bytes()} bytes, ${rounds} rounds`);
  await compare("In the process", (name) => {
    const own = mkdtempSync(path.join(folder, `${name}-`));
    return { folder: own, search: !isLarge };
  });
  if (NO_POSTGRES === undefined) await comparePostgres();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function comparePostgres() {
  const port = await freePort();
  const server = await startPostgres(["listen_addresses=127.0.0.1", `port=${port}`]);
  try {
    const urls = new Map();
    for (const name of groups.PostgreSQL) {
      const database = new URL((await server.create()).replace("@:", "@localhost:")).pathname;
      urls.set(name, `postgres://postgres@127.0.0.1:${port}${database}`);
    }
    await compare("PostgreSQL", (name) => {
      return { url: urls.get(name), search: true };
    });
  } finally {
    await server.stop();
  }
}

async function compare(title, optionsOf) {
  const names = groups[title]
    .slice(0, isLarge ? 2 : undefined)
    .filter((name) => enginesText === undefined || enginesText.split(",").includes(name));
  if (names.length < 2) return;
  const isPostgres = title === "PostgreSQL";
  const inFlight = isPostgres ? 10 : 1;
  console.log(`\n### ${title}`);
  const engines = [];
  for (const name of names) {
    const settings = JSON.stringify({ name, total, inFlight, deep, options: optionsOf(name) });
    const child = fork(path.join(import.meta.dirname, "engine.mjs"), [settings], {
      execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
    });
    child.once("exit", (code) => {
      if (code === 0) return;
      console.error(`${name} ended with ${code}`);
      failed.abort();
    });
    const [loading] = await once(child, "message", { signal: failed.signal });
    engines.push({ name, child, loading });
  }
  await check(engines);
  const pages = new Map();
  table("bulk load", new Map(engines.map(({ name, loading }) => [name, [loading]])));
  for (const [work, heading] of Object.entries(READS)) {
    if (isLarge && !isPostgres && work === "search") continue;
    const results = await measure(engines, { work, milliseconds: READ_TIME });
    table(heading, results);
    if (work === "first" || work === "deep") pages.set(work, results);
    if (work === "deep") comparePages(pages);
  }
  if (!isLarge || isPostgres) {
    for (const [writers, heading] of Object.entries(WRITES)) {
      const task = { work: "insert", milliseconds: WRITE_TIME, writers: Number(writers) };
      table(heading, await measure(engines, task));
    }
  }
  for (const { child } of engines) {
    child.send({ work: "end" });
    await once(child, "exit");
  }
}

/** All engines give the answers of the first one, as far as they give any. */
async function check(engines) {
  let first;
  for (const { name, child } of engines) {
    child.send({ work: "check" });
    const [answers] = await once(child, "message", { signal: failed.signal });
    first ??= answers;
    for (const [work, answer] of Object.entries(answers)) {
      deepStrictEqual(answer, first[work], `${name} answers ${work} differently`);
    }
  }
}

async function measure(engines, task) {
  const results = new Map(engines.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const turn = round % engines.length;
    const order = [...engines.slice(turn), ...engines.slice(0, turn)];
    for (const { name, child } of round % 2 === 0 ? order : order.toReversed()) {
      child.send(task);
      const [result] = await once(child, "message", { signal: failed.signal });
      if (round > 0 && result !== null) results.get(name).push(result);
    }
  }
  return results;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

function table(heading, results) {
  const own = results.get("fetchwork");
  console.log(`\n| ${heading} | per second | CPU µs each | ours / theirs, CPU (spread) | MiB |`);
  console.log("| --- | ---: | ---: | ---: | ---: |");
  for (const [name, samples] of results) {
    if (samples.length === 0) continue;
    const ratios = samples.map(({ cpu }, round) => own[round].cpu / cpu);
    const spread =
      ratios.length === 1
        ? ratios[0].toFixed(2)
        : `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
    const rate = Math.round(median(samples.map((sample) => sample.rate)));
    const cpu = median(samples.map((sample) => sample.cpu)).toFixed(1);
    const { memory } = samples[0];
    const mebibytes = memory === undefined ? "" : Math.round(memory / 2 ** 20);
    console.log(`| ${name} | ${rate} | ${cpu} | ${samples === own ? "" : spread} | ${mebibytes} |`);
  }
}

/** What a deep page costs of the time of the first one, in the same rounds. */
function comparePages(pages) {
  console.log("");
  for (const [name, deep] of pages.get("deep")) {
    const first = pages.get("first").get(name);
    if (deep.length === 0) continue;
    const rate = median(first.map((sample, round) => sample.rate / deep[round].rate));
    const cpu = median(deep.map((sample, round) => sample.cpu / first[round].cpu));
    console.log(`${name}: deep page / page 1: time ${rate.toFixed(2)}, CPU ${cpu.toFixed(2)}`);
  }
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function versions() {
  const of = (name) => {
    const file = path.join(import.meta.dirname, "..", "node_modules", name, "package.json");
    return `${name} ${JSON.parse(readFileSync(file, "utf8")).version}`;
  };
  return [
    "@seald-io/nedb",
    "lokijs",
    "pouchdb",
    "@electric-sql/pglite",
    "pg",
    "@event-driven-io/pongo",
    "sequelize",
  ]
    .map(of)
    .join(", ");
}

function bytes() {
  return JSON.stringify(sample(0, total)).length;
}
