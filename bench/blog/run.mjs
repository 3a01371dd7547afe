// Measures the blog API against the same API in other frameworks, on SQLite and on PostgreSQL.
//
// npm run blog -- [rounds] [servers, as in "fetchwork,express"] [databases, as in "sqlite"] [works,
// as in "get,list"]
//
// Strapi is measured too when it is there: `npm install` in bench/blog/strapi. Every server is a
// separate process and gets 10,000 articles (or ARTICLES=number) through its API; first all must
// answer alike, and refuse what the blog refuses; one that fails is left out. Then each round asks
// every server in turn to do one work. CPU time is that of the server's process with all its
// threads, and for PostgreSQL also that of all processes of PostgreSQL. PostgreSQL keeps fsync on,
// and its statistics are made when the articles are there; on SQLite the indexes of words are
// merged then. With PROFILE=folder each server leaves its profile there.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { randomBytes } from "node:crypto";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  noPostgres,
  runSql,
  startPostgres,
} from "../../packages/documents/test/postgres-server.ts";
import { drive, requestText } from "../harness/load.mjs";
import { Part } from "../harness/part.ts";
import { checkAnswers } from "./check-answers.mjs";
import { processTree, residentMemory, startCpuTimer } from "../harness/cpu-time.mjs";
import { hashPassword } from "./peers/password.mjs";
import { article, newArticle, searched, total } from "./sample-articles.mjs";
import { servers, userPassword } from "./servers.mjs";
import { freePort, start } from "./start.mjs";

const part = new Part("blog");
const [namesText, databasesText = "sqlite,postgres", worksText] = part.settings.others;
const names = namesText?.split(",") ?? Object.keys(servers);
part.uses("express", "pg", "zod", "jsonwebtoken", "helmet", "cors", "compression");
part.uses("@nestjs/core", "fastify", "typeorm", "better-sqlite3", "@feathersjs/feathers", "knex");
part.uses("json-server");
const titles = { sqlite: "SQLite", postgres: "PostgreSQL" };
const READ_TIME = 200;
const SIGN_IN_TIME = 500;
const WARM_UP = part.settings.isQuick ? 4 : 8;
const STARTS = part.settings.isQuick ? 1 : 3;

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
/** Whatever is left when it ends early, some of it in memory. */
const folders = new Set([folder]);
process.once("exit", () => {
  for (const each of folders) rmSync(each, { recursive: true, force: true });
});
try {
  const databases = databasesText.split(",");
  if (databases.includes("sqlite")) {
    const urlOf = (own) => `sqlite:${path.join(own, "blog.db")}`;
    await part.attempt("the rest of SQLite", () => compare("sqlite", { urlOf }));
  }
  if (databases.includes("postgres")) {
    await part.attempt("the rest of PostgreSQL", comparePostgres);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
part.close();

async function comparePostgres() {
  if (noPostgres !== undefined) return part.leaveOut("PostgreSQL", noPostgres);
  const port = await freePort();
  const postgres = await startPostgres([
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    // What it does on its own would count for the one that is measured just then.
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
  const group = titles[database];
  const places = new Map();
  for (const name of names) {
    if (!servers[name].databases.includes(database)) continue;
    if (servers[name].isMissing?.()) {
      part.leaveOut(name, "it is not installed");
      continue;
    }
    const own = path.join(folder, `${name}-${database}`);
    mkdirSync(own);
    places.set(name, { folder: own, databaseUrl: await urlOf(own), secrets });
  }
  const started = [];
  const leaveOut = (name, error) => {
    // Without ours there is nothing to compare.
    if (name === "fetchwork") throw error;
    part.leaveOut(`${name} on ${group}`, String(error));
    places.delete(name);
  };
  try {
    await Promise.all(
      [...places].map(async ([name, place]) => {
        try {
          await fill(name, { place, started });
        } catch (error) {
          leaveOut(name, error);
        }
      }),
    );
    const running = new Map();
    for (const [name, place] of places) {
      try {
        running.set(name, await prepare(name, place, started));
      } catch (error) {
        leaveOut(name, error);
      }
    }
    await seeded?.();
    for (const work of worksText?.split(",") ?? Object.keys(works)) {
      await compareWork({ running, group, work, databasePid });
    }
    const memory = [...running].map(([name, { pid }]) => [name, [{ value: residentMemory(pid) }]]);
    for (const one of running.values()) await one.stop();
    await compareStarts(group, places);
    part.add({ group, work: "memory after all this", unit: "MiB" }, new Map(memory));
  } finally {
    for (const one of started) await one.stop();
  }
}

/**
 * Adds the articles. With SQLite that happens in memory, since waiting for the disk would take
 * minutes.
 */
async function fill(name, { place, started }) {
  const server = servers[name];
  if (server.isSeeded) return;
  const quick = existsSync("/dev/shm") ? mkdtempSync("/dev/shm/bench-blog-") : undefined;
  if (quick !== undefined) folders.add(quick);
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

/**
 * As VACUUM does on PostgreSQL: else it is chance whether FTS5 looks a word up in 1 part of an
 * index or in 20.
 */
function mergeWords(file) {
  if (!existsSync(file)) return;
  const database = new DatabaseSync(file);
  const indexes =
    "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'";
  for (const row of database.prepare(indexes).all()) {
    const name = String(row.name);
    database.exec(`INSERT INTO "${name}" ("${name}") VALUES ('optimize')`);
  }
  database.close();
}

async function prepare(name, place, started) {
  const running = await start(name, servers[name], place);
  started.push(running);
  const headers = await signIn(running);
  return { ...running, headers, id: await checkAnswers({ ...running, headers }) };
}

/** Returns the headers of a user. */
async function signIn({ name, server, origin }) {
  if (!server.signIn) return {};
  const answer = await server.signIn(secrets).fetch(origin);
  if (!answer.ok) throw new Error(`${name} signs nobody in: ${await answer.text()}`);
  return { Authorization: `Bearer ${server.token(await answer.json())}` };
}

async function compareWork({ running, group, work, databasePid }) {
  const able = [...running].filter(([, one]) => works[work](one)).map(([name]) => name);
  const both = new Map(able.map((name) => [name, []]));
  const measure = async (name, { isWarmUp }) => {
    const sample = await measureOne(running.get(name), { work, databasePid, isWarmUp });
    if (!isWarmUp && databasePid) both.get(name).push({ value: sample.value + sample.database });
    return sample;
  };
  const seconds = work === "sign-in" ? 20 : 40;
  const sampling = { names: able, measure, seconds, least: work === "sign-in" ? 5 : 7 };
  await part.compare({ group, work, unit: "CPU µs" }, sampling);
  if (databasePid) part.add({ group: `${group}, server and database`, work, unit: "CPU µs" }, both);
}

async function measureOne(one, { work, databasePid, isWarmUp }) {
  const request = { connections: 32, status: 200, ...works[work](one), port: one.port };
  // Long enough for the compiler of V8 to have seen the code.
  if (isWarmUp && request.milliseconds !== undefined) request.milliseconds *= WARM_UP;
  const used = startCpuTimer(() => [one.pid]);
  const usedByDatabase = startCpuTimer(() => (databasePid ? processTree(databasePid) : []));
  const { seconds, count } = await drive(request);
  return { rate: count / seconds, value: used() / count, database: usedByDatabase() / count };
}

/** On the databases that are filled, as when a server is replaced. */
async function compareStarts(group, places) {
  const figures = {
    "start to first answer": ["ms", ({ startTime }) => startTime],
    "CPU of the start": ["ms", ({ startCpu }) => startCpu],
    "memory after the start": ["MiB", ({ pid }) => residentMemory(pid)],
  };
  const collected = Object.keys(figures).map((work) => [
    work,
    new Map([...places.keys()].map((name) => [name, []])),
  ]);
  for (let round = 0; round <= STARTS; round += 1) {
    for (const [name, place] of round % 2 === 0 ? places : [...places].toReversed()) {
      const running = await start(name, servers[name], place);
      for (const [work, values] of collected) {
        if (round > 0) values.get(name).push({ value: figures[work][1](running) });
      }
      await running.stop();
    }
  }
  for (const [work, values] of collected) {
    part.add({ group, work, unit: figures[work][0] }, values);
  }
}
