// Bare node:sqlite as an experienced user writes it: the same columns, indexes, cache and
// durability, statements prepared once, one transaction for each insert.
import { DatabaseSync } from "node:sqlite";
import { newId } from "../sample.mjs";
import { openTags } from "./node-sqlite-tags.mjs";

export function open({ folder, search, tags }) {
  const db = new DatabaseSync(`${folder}/docs.db`);
  const author = "json_extract(doc, '$.author')";
  const rank = "json_extract(doc, '$.rank')";
  const columns = "id, version, created_at AS createdAt, updated_at AS updatedAt, doc";
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA cache_size = -16384;
    CREATE TABLE docs (
      seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL,
      created_at TEXT NOT NULL, updated_at TEXT NOT NULL, doc TEXT NOT NULL
    ) STRICT;
    CREATE INDEX created ON docs (created_at, id);
    CREATE INDEX author ON docs (${author}, ${rank}, id);
    CREATE INDEX rank ON docs (${rank}, id);
  `);
  if (search) db.exec("CREATE VIRTUAL TABLE found USING fts5(text, tokenize = 'trigram')");
  const tagged = tags ? openTags(db, columns) : undefined;
  const statements = {
    add: db.prepare("INSERT INTO docs VALUES (NULL, ?, 1, ?, ?, ?)"),
    addText: search ? db.prepare("INSERT INTO found (rowid, text) VALUES (?, ?)") : undefined,
    get: db.prepare(`SELECT ${columns} FROM docs WHERE id = ?`),
    list: db.prepare(
      `SELECT ${columns} FROM docs WHERE ${author} = ? ORDER BY ${rank} DESC, id DESC LIMIT 30`,
    ),
    first: db.prepare(`SELECT ${columns} FROM docs ORDER BY ${rank}, id LIMIT 31`),
    after: db.prepare(
      // The first term is for the index, which comparing rows does not use with expressions.
      `SELECT ${columns} FROM docs WHERE ${rank} >= ?1 AND (${rank}, id) > (?1, ?2)
       ORDER BY ${rank}, id LIMIT 31`,
    ),
    at: db.prepare(`SELECT id FROM docs WHERE ${rank} = ?`),
    search: search
      ? db.prepare(
          `SELECT ${columns} FROM docs WHERE seq IN (SELECT rowid FROM found WHERE text MATCH ?)
           ORDER BY created_at DESC, id DESC LIMIT 30`,
        )
      : undefined,
  };
  const ids = [];
  const read = ({ doc, ...meta }) => ({ ...meta, ...JSON.parse(doc) });
  function add(document) {
    const id = newId();
    const now = new Date().toISOString();
    const { lastInsertRowid } = statements.add.run(id, now, now, JSON.stringify(document));
    statements.addText?.run(lastInsertRowid, `${document.title}\n${document.text}`);
    tagged?.add(lastInsertRowid, document.tags);
    return { id, version: 1, createdAt: now, updatedAt: now, ...document };
  }
  function transaction(work) {
    db.exec("BEGIN IMMEDIATE");
    const result = work();
    db.exec("COMMIT");
    return result;
  }
  return {
    load(chunk) {
      for (const { id } of transaction(() => chunk.map(add))) ids.push(id);
    },
    get: (number) => read(statements.get.get(ids[number])),
    list: (name) => statements.list.all(name).map(read),
    pageAfter(count) {
      if (count === 0) return () => statements.first.all().slice(0, 30).map(read);
      const { id } = statements.at.get(count - 1);
      return () =>
        statements.after
          .all(count - 1, id)
          .slice(0, 30)
          .map(read);
    },
    search: search ? (word) => statements.search.all(`"${word}"`).map(read) : undefined,
    insert: (document) => transaction(() => add(document)),
    ...tagged?.works({ ids, read }),
    close: () => db.close(),
  };
}
