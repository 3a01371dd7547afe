// Measures the blog API against the same API in other frameworks, on SQLite and on PostgreSQL.
//
//   npm run blog -- [rounds] [servers, as in "fetchwork,express"] [databases, as in "sqlite"] [works, as in "get,list"]
//
// Strapi is measured too when it is there: `npm install` in bench/blog/strapi. Every server is a process of its own and
// gets 10,000 articles (or ARTICLES=number) through its API; first all must answer alike, and refuse what the blog refuses. Then each round
// asks every server in turn, in another order each time, to do one work. Round 0 warms up. The tables have medians;
// ratios are ours over theirs, round by round, with the quartiles. CPU time is that of the server's process with all its
// threads, and for PostgreSQL also that of all processes of PostgreSQL. PostgreSQL keeps fsync on, and its statistics are
// made when the articles are there; on SQLite the indexes of words are merged then. With PROFILE=folder each server leaves
// its profile there.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { randomBytes } from "node:crypto";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  NO_POSTGRES,
  runSql,
  startPostgres,
} from "../../packages/documents/test/postgres-server.ts";
import { drive, requestText } from "../load.mjs";
import { checkAnswers } from "./check-answers.mjs";
import { processTree, residentMemory, startCpuTimer } from "./cpu-time.mjs";
import { hashPassword } from "./peers/password.mjs";
import { printMachine, printStarts, printWork } from "./report.mjs";
import { article, newArticle, searched, total } from "./sample-articles.mjs";
import { servers, userPassword } from "./servers.mjs";
import { freePort, start } from "./start.mjs";

const [roundsText = "9", namesText, databasesText = "sqlite,postgres", worksText] =
  process.argv.slice(2);
const rounds = Number(roundsText);
const names = namesText?.split(",") ?? Object.keys(servers);
const READ_TIME = 200;
const SIGN_IN_TIME = 500;
const WARM_UP = 8;
const STARTS = 3;

const secrets = {
  masterKey: randomBytes(24).toString("hex"),
  jwtSecret: randomBytes(24).toString("hex"),
  passwordHash: await hashPassword(userPassword),
};

const works = {
  get: ({ server, id }) => ({
    texts: [requestText("GET", server.show(id))],
    milliseconds: READ_TIME,
  }),
  list: ({ server }) => ({
    texts: [requestText("GET", server.list)],
    milliseconds: READ_TIME,
  }),
  search: ({ server }) => ({
    texts: searched.map((word) => requestText("GET", server.search(word))),
    milliseconds: READ_TIME,
  }),
  "sign-in": ({ server }) =>
    server.signIn && {
      texts: [server.signIn(secrets).text()],
      status: server.signInStatus ?? 201,
      milliseconds: SIGN_IN_TIME,
      connections: 8,
    },
  create: ({ server, headers }) => ({
    texts: [server.create(newArticle(total)).text(headers)],
    status: 201,
    amount: server.creations,
  }),
};

const folder = mkdtempSync(path.join(os.tmpdir(), "bench-blog-"));
try {
  printMachine({ total, rounds });
  const databases = databasesText.split(",");
  if (databases.includes("sqlite")) {
    await compare("sqlite", { urlOf: (own) => `sqlite:${path.join(own, "blog.db")}` });
  }
  if (databases.includes("postgres")) await comparePostgres();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function comparePostgres() {
  if (NO_POSTGRES !== undefined) return console.log(`\n${NO_POSTGRES}`);
  const port = await freePort();
  const postgres = await startPostgres([
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    // What it does on its own would count for whoever is measured just then.
    "autovacuum=off",
  ]);
  const databases = [];
  try {
    const urlOf = async () => {
      const database = await postgres.create();
      databases.push(database);
      const { pathname } = new URL(database.replace("@:", "@localhost:"));
      return `postgres://postgres@127.0.0.1:${port}${pathname}`;
    };
    const seeded = async () => {
      for (const database of databases) await runSql(database, "VACUUM ANALYZE");
    };
    await compare("postgres", { urlOf, seeded, pid: postgres.process.pid });
  } finally {
    await postgres.stop();
  }
}

async function compare(database, { urlOf, seeded, pid: databasePid }) {
  console.log(`\n### ${database}`);
  const measured = names.filter((name) => {
    if (!servers[name].databases.includes(database)) return false;
    if (!servers[name].isMissing?.()) return true;
    console.log(`\n${name} is not installed`);
    return false;
  });
  const places = new Map();
  for (const name of measured) {
    const own = path.join(folder, `${name}-${database}`);
    mkdirSync(own);
    places.set(name, { folder: own, databaseUrl: await urlOf(own), secrets });
  }
  const started = [];
  try {
    await Promise.all(measured.map((name) => fill(name, { place: places.get(name), started })));
    const running = [];
    for (const name of measured) running.push(await prepare(name, places.get(name), started));
    await seeded?.();
    for (const work of worksText?.split(",") ?? Object.keys(works)) {
      const samples = await measureWork(running, work, databasePid);
      printWork(work, samples);
    }
    const memory = new Map(running.map(({ name, pid }) => [name, residentMemory(pid)]));
    for (const one of running) await one.stop();
    printStarts(await measureStarts(measured, places), memory);
  } finally {
    for (const one of started) await one.stop();
  }
}

/** Adds the articles. With SQLite that happens in memory, since waiting for the disk would take minutes. */
async function fill(name, { place, started }) {
  const server = servers[name];
  if (server.isSeeded) return;
  const quick = existsSync("/dev/shm") ? mkdtempSync("/dev/shm/bench-blog-") : undefined;
  try {
    const databaseUrl = place.databaseUrl.replace(place.folder, quick ?? place.folder);
    const running = await start(name, server, { ...place, databaseUrl });
    started.push(running);
    await server.addUser?.(running.origin, secrets);
    const headers = await signIn(running);
    await drive({
      port: running.port,
      connections: 16,
      texts: Array.from({ length: total }, (_, n) => server.create(article(n)).text(headers)),
      status: 201,
      amount: total,
    });
    await running.stop();
    mergeWords(path.join(quick ?? place.folder, "blog.db"));
    if (quick !== undefined) cpSync(quick, place.folder, { recursive: true });
  } finally {
    if (quick !== undefined) rmSync(quick, { recursive: true });
  }
}

/** As VACUUM does on PostgreSQL: else it is chance whether FTS5 looks a word up in 1 part of an index or in 20. */
function mergeWords(file) {
  if (!existsSync(file)) return;
  const database = new DatabaseSync(file);
  const indexes =
    "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'";
  for (const { name } of database.prepare(indexes).all()) {
    const index = `"${String(name)}"`;
    database.exec(`INSERT INTO ${index} (${index}) VALUES ('optimize')`);
  }
  database.close();
}

async function prepare(name, place, started) {
  const running = await start(name, servers[name], place);
  started.push(running);
  const headers = await signIn(running);
  return { ...running, headers, id: await checkAnswers({ ...running, headers }) };
}

/** Gives the headers of a user. */
async function signIn({ name, server, origin }) {
  if (!server.signIn) return {};
  const answer = await server.signIn(secrets).fetch(origin);
  if (!answer.ok) throw new Error(`${name} signs nobody in: ${await answer.text()}`);
  return { Authorization: `Bearer ${server.token(await answer.json())}` };
}

async function measureWork(running, work, databasePid) {
  const able = running.filter((one) => works[work](one));
  const samples = new Map(able.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const turn = round % able.length;
    const order = [...able.slice(turn), ...able.slice(0, turn)];
    for (const one of round % 2 === 0 ? order : order.toReversed()) {
      const sample = await measure(one, { work, databasePid, isWarmUp: round === 0 });
      if (round > 0) samples.get(one.name).push(sample);
    }
  }
  return samples;
}

async function measure(one, { work, databasePid, isWarmUp }) {
  const request = { connections: 32, status: 200, ...works[work](one), port: one.port };
  // Long enough for the compiler of V8 to have seen the code.
  if (isWarmUp && request.milliseconds !== undefined) request.milliseconds *= WARM_UP;
  const used = startCpuTimer(() => [one.pid]);
  const usedByDatabase = startCpuTimer(() => (databasePid ? processTree(databasePid) : []));
  const { seconds, count } = await drive(request);
  return {
    rate: count / seconds,
    cpu: used() / count,
    databaseCpu: databasePid && usedByDatabase() / count,
  };
}

/** On the databases that are filled, as when a server is replaced. */
async function measureStarts(measured, places) {
  const samples = new Map(measured.map((name) => [name, []]));
  for (let round = 0; round <= STARTS; round += 1) {
    for (const name of round % 2 === 0 ? measured : measured.toReversed()) {
      const running = await start(name, servers[name], places.get(name));
      const { startTime, startCpu, pid } = running;
      if (round > 0) samples.get(name).push({ startTime, startCpu, memory: residentMemory(pid) });
      await running.stop();
    }
  }
  return samples;
}
