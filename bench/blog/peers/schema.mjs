// The tables of the peers, and where words are looked up: the same indexes that
// @fetchwork/documents makes.

const tables = (key) => `
  CREATE TABLE IF NOT EXISTS users (
    id ${key} PRIMARY KEY, email text NOT NULL UNIQUE, role text NOT NULL, password text NOT NULL,
    "sessionVersion" integer NOT NULL
  );
  CREATE TABLE IF NOT EXISTS articles (
    id ${key} PRIMARY KEY, title text NOT NULL, content text NOT NULL, author text NOT NULL,
    "createdAt" ${key} NOT NULL, "updatedAt" ${key} NOT NULL
  );
  CREATE INDEX IF NOT EXISTS created ON articles ("createdAt", id);
`;

export const sqlite = {
  settings: ["journal_mode = WAL", "synchronous = FULL", "cache_size = -16384"],
  schema: `${tables("text")}
    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
      title, content, content = 'articles', tokenize = 'trigram'
    );
    CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON articles BEGIN
      INSERT INTO words (rowid, title, content) VALUES (new.rowid, new.title, new.content);
    END;
  `,
  addUser: "INSERT OR IGNORE INTO users VALUES (?, ?, ?, ?, 1)",
  /** The condition that articles have all words of a search, and its values. */
  matching(q) {
    const words = q.split(/\s+/).map((word) => `"${word.replaceAll('"', '""')}"`);
    return {
      sql: "articles.rowid IN (SELECT rowid FROM words WHERE words MATCH ?)",
      values: [words.join(" ")],
    };
  },
};

export const postgres = {
  schema: `CREATE EXTENSION IF NOT EXISTS pg_trgm;
    ${tables('text COLLATE "C"')}
    CREATE INDEX IF NOT EXISTS words ON articles
      USING gin (lower(title || ' ' || content) gin_trgm_ops);
  `,
  addUser: "INSERT INTO users VALUES ($1, $2, $3, $4, 1) ON CONFLICT DO NOTHING",
  matching(q) {
    const words = q.toLowerCase().split(/\s+/);
    return {
      sql: words.map(() => "lower(title || ' ' || content) LIKE ?").join(" AND "),
      values: words.map((word) => `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`),
    };
  },
};

/** The user of the benchmark, whose hash the runner has computed. */
export const user = ["bench", "bench@example.com", "user", process.env.PASSWORD_HASH];
