// Hand-written SQL of the Express peer: node:sqlite with prepared statements, pg with named ones
// and its pool of ten.
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { postgres, sqlite, user } from "./schema.mjs";

const columns = 'id, title, content, "createdAt", "updatedAt"';
const order = '"createdAt" DESC, articles.id DESC';

export async function openDatabase(url) {
  const open = url.startsWith("sqlite:") ? openSqlite : openPostgres;
  const { run, all, dialect } = await open(url);
  const first = async (sql, values) => (await all(sql, values))[0];
  await run(dialect.addUser, user);
  return {
    userById: (id) => first("SELECT * FROM users WHERE id = ?", [id]),
    userByEmail: (email) => first("SELECT * FROM users WHERE email = ?", [email]),
    article: (id) => first(`SELECT ${columns} FROM articles WHERE id = ?`, [id]),
    insert: (values) => run("INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?)", values),
    async list({ q, limit, offset }) {
      const { sql, values } = q ? dialect.matching(q) : { sql: "", values: [] };
      const where = sql && `WHERE ${sql}`;
      const [counted, rows] = await Promise.all([
        first(`SELECT count(*) AS total FROM articles ${where}`, values),
        all(`SELECT ${columns} FROM articles ${where} ORDER BY ${order} LIMIT ? OFFSET ?`, [
          ...values,
          limit,
          offset,
        ]),
      ]);
      return { rows, total: Number(counted.total) };
    },
  };
}

function openSqlite(url) {
  const db = new DatabaseSync(url.slice("sqlite:".length));
  for (const setting of sqlite.settings) db.exec(`PRAGMA ${setting}`);
  db.exec(sqlite.schema);
  const statements = new Map();
  const prepared = (sql) => {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = db.prepare(sql)));
    return statement;
  };
  return {
    dialect: sqlite,
    all: (sql, values) => prepared(sql).all(...values),
    run: (sql, values) => prepared(sql).run(...values),
  };
}

async function openPostgres(url) {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  await pool.query(postgres.schema);
  const statements = new Map();
  const named = (sql) => {
    let statement = statements.get(sql);
    if (!statement) {
      let number = 0;
      const text = sql.replaceAll("?", () => `$${(number += 1)}`);
      statement = { text, name: createHash("md5").update(sql).digest("hex") };
      statements.set(sql, statement);
    }
    return statement;
  };
  const all = async (sql, values) => (await pool.query({ ...named(sql), values })).rows;
  return { dialect: postgres, all, run: all };
}
