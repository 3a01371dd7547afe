// What sharing a commit is worth: durable inserts with one and with 64 writers, of this package and
// of bare node:sqlite, whose ratio is the most that sharing can give with that schema on that disk.
//   node --conditions=@fetchwork/source documents/group-commit.mjs [folder] [rounds]
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defineCollection, openStore } from "../../packages/documents/src/index.ts";

const [, , parent = tmpdir(), rounds = "5"] = process.argv;
const WRITERS = 64;
const MILLISECONDS = 800;

const folder = mkdtempSync(join(parent, "group-commit-"));
const words = Array.from({ length: 2000 }, (_, index) => (index * 7919 + 13).toString(36));
let written = 0;

function makeDocument() {
  written += 1;
  const n = written;
  const text = Array.from({ length: 40 }, (_, index) => words[(n * 17 + index * 71) % 2000]);
  return {
    title: `The ${words[n % 2000]} of ${words[(n * 31) % 2000]}`,
    author: `a${n % 50}`,
    rank: (n * 7919) % 100_000,
    text: text.join(" "),
  };
}

function openBare(isSearched) {
  const database = new DatabaseSync(join(folder, `bare-${isSearched}.db`));
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA cache_size = -16384;
    CREATE TABLE docs (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER,
      created_at TEXT, updated_at TEXT, doc TEXT);
    CREATE INDEX created ON docs (created_at, id);
    CREATE INDEX rank ON docs (json_extract(doc, '$.rank'), id);
    CREATE INDEX author ON docs (json_extract(doc, '$.author'), json_extract(doc, '$.rank'), id);
    CREATE VIRTUAL TABLE search USING fts5(text, tokenize = 'trigram case_sensitive 1');
  `);
  const insert = database.prepare(
    "INSERT INTO docs (id, version, created_at, updated_at, doc) VALUES (?, 1, ?, ?, ?)",
  );
  const index = database.prepare("INSERT INTO search (rowid, text) VALUES (?, ?)");
  const put = (count) => {
    database.exec("BEGIN IMMEDIATE");
    for (let each = 0; each < count; each += 1) {
      const document = makeDocument();
      const now = new Date().toISOString();
      const row = insert.run(randomUUID(), now, now, JSON.stringify(document));
      const text = `${document.title} ${document.text}`.toLowerCase();
      if (isSearched) index.run(row.lastInsertRowid, text);
    }
    database.exec("COMMIT");
  };
  return { put, close: () => database.close() };
}

async function openOurs(isSearched) {
  const definition = defineCollection("docs", {
    indexes: [["author", "rank"], "rank"],
    search: isSearched ? ["title", "text"] : [],
  });
  const path = join(folder, `ours-${isSearched}.db`);
  const store = await openStore(`sqlite:${path}`, { collections: [definition] });
  const docs = store.collection(definition);
  return {
    put: (count) => Promise.all(Array.from({ length: count }, () => docs.insert(makeDocument()))),
    close: () => store.close(),
  };
}

async function measure(put, count) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  let done = 0;
  for (; performance.now() - start < MILLISECONDS; done += count) await put(count);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { rate: done / seconds, cpu: (user + system) / done };
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

for (const isSearched of [false, true]) {
  const engines = { "node:sqlite": openBare(isSearched), fetchwork: await openOurs(isSearched) };
  const figures = new Map();
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const [name, { put }] of Object.entries(engines)) {
      for (const count of [1, WRITERS]) {
        const key = `${name}, ${count} in a commit`;
        figures.set(key, [...(figures.get(key) ?? []), await measure(put, count)]);
      }
    }
  }
  console.log(isSearched ? "With a search index" : "Without a search index");
  for (const [name, list] of figures) {
    const rate = Math.round(median(list.map((one) => one.rate)));
    const cpu = median(list.map((one) => one.cpu)).toFixed(1);
    console.log(
      `  ${name.padEnd(28)} ${String(rate).padStart(7)}/s ${cpu.padStart(7)} µs of CPU each`,
    );
  }
  for (const { close } of Object.values(engines)) await close();
}
rmSync(folder, { recursive: true });
