// One table as an experienced user of PostgreSQL makes it, and its statements; for bare pg and for
// PGlite.
import { newId } from "../sample.mjs";
import { tagWorks } from "./postgres-tags.mjs";

const author = "(doc ->> 'author')";
const rank = "((doc ->> 'rank')::float8)";
const columns = 'id, version, created_at AS "createdAt", updated_at AS "updatedAt", doc';

/** Writes the table with the indexes that are asked for. */
export const schemaOf = ({ search, tags }) => `
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE TABLE docs (
    id text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL, doc jsonb NOT NULL, search text,
    tags text[]
  );
  CREATE INDEX ON docs (created_at, id);
  CREATE INDEX ON docs (${author}, ${rank}, id);
  CREATE INDEX ON docs (${rank}, id);
  ${search ? "CREATE INDEX ON docs USING gin (search gin_trgm_ops);" : ""}
  ${tags ? "CREATE INDEX ON docs USING gin (tags);" : ""}
`;

const TEXTS = {
  add: "INSERT INTO docs SELECT * FROM json_to_recordset($1::json) AS d(id text, version integer, created_at text, updated_at text, doc jsonb, search text, tags text[])",
  addOne: "INSERT INTO docs VALUES ($1, 1, $2, $2, $3, $4, $5)",
  get: `SELECT ${columns} FROM docs WHERE id = $1`,
  list: `SELECT ${columns} FROM docs WHERE ${author} = $1 ORDER BY ${rank} DESC, id DESC LIMIT 30`,
  first: `SELECT ${columns} FROM docs ORDER BY ${rank}, id LIMIT 31`,
  after: `SELECT ${columns} FROM docs WHERE (${rank}, id) > ($1::float8, $2::text) ORDER BY ${rank}, id LIMIT 31`,
  at: `SELECT id FROM docs WHERE ${rank} = $1`,
  search: `SELECT ${columns} FROM docs WHERE search LIKE $1 ORDER BY created_at DESC, id DESC LIMIT 30`,
};

/** Takes what runs a script, and what runs a statement by its name. */
export async function openTable({ script, query, close, ...options }) {
  const { search, tags } = options;
  await script(schemaOf(options));
  const ids = [];
  const rows = async (name, values) => (await query(name, TEXTS[name], values)).rows;
  const read = ({ doc, version, ...meta }) => ({ ...meta, version: Number(version), ...doc });
  const page = (found) => found.slice(0, 30).map(read);
  const searchText = ({ title, text }) => (search ? `${title}\n${text}`.toLowerCase() : null);
  // Without repetitions, so that nobody counts a document twice.
  const tagsOf = (doc) => (tags ? [...new Set(doc.tags)] : null);
  return {
    async load(chunk) {
      const now = new Date().toISOString();
      const added = chunk.map((doc) => {
        const row = { id: newId(), version: 1, created_at: now, updated_at: now, doc };
        return { ...row, search: searchText(doc), tags: tagsOf(doc) };
      });
      await rows("add", [JSON.stringify(added)]);
      for (const { id } of added) ids.push(id);
    },
    loaded: () => script("VACUUM (ANALYZE) docs"),
    async get(number) {
      const [row] = await rows("get", [ids[number]]);
      return read(row);
    },
    list: async (name) => (await rows("list", [name])).map(read),
    async pageAfter(count) {
      if (count === 0) return async () => page(await rows("first", []));
      const [{ id }] = await rows("at", [count - 1]);
      return async () => page(await rows("after", [count - 1, id]));
    },
    search: search ? async (word) => (await rows("search", [`%${word}%`])).map(read) : undefined,
    async insert(document) {
      const id = newId();
      const now = new Date().toISOString();
      const values = [id, now, JSON.stringify(document), searchText(document), tagsOf(document)];
      await rows("addOne", values);
      return { id, version: 1, createdAt: now, updatedAt: now, ...document };
    },
    ...(tags && tagWorks({ query, columns, ids, read })),
    close,
  };
}
