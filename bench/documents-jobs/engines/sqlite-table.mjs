// A table by hand, as an experienced user writes it: one transaction for each insert, claims and
// ends in batches.
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

export function open({ url, concurrency }) {
  const db = new DatabaseSync(url.slice("sqlite:".length));
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS jobs (
      seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, state TEXT NOT NULL, input TEXT NOT NULL,
      until INTEGER, result TEXT, finished_at TEXT
    ) STRICT;
    CREATE INDEX IF NOT EXISTS waiting ON jobs (seq) WHERE state = 'waiting';
  `);
  const add = db.prepare("INSERT INTO jobs (id, state, input) VALUES (?, 'waiting', ?)");
  const claim = db.prepare(
    "UPDATE jobs SET until = ? WHERE seq IN (SELECT seq FROM jobs WHERE state = 'waiting' AND " +
      "(until IS NULL OR until < ?) ORDER BY seq LIMIT ?) RETURNING seq, input",
  );
  const end = db.prepare(
    "UPDATE jobs SET state = 'done', finished_at = ?, until = NULL WHERE seq = ?",
  );
  const left = db.prepare("SELECT 1 FROM jobs WHERE state = 'waiting' LIMIT 1");
  let wake = () => undefined;
  return {
    add(input) {
      const id = randomUUID();
      add.run(id, JSON.stringify(input));
      wake();
      return id;
    },
    work(handler) {
      const stopping = new AbortController();
      const loop = async () => {
        while (!stopping.signal.aborted) {
          const now = Date.now();
          const claimed = claim.all(now + 30_000, now, concurrency);
          if (claimed.length === 0) {
            await new Promise((resolve) => {
              const timer = setTimeout(resolve, 200);
              wake = () => {
                clearTimeout(timer);
                setImmediate(resolve);
              };
            });
            continue;
          }
          await Promise.all(claimed.map(({ input }) => handler(JSON.parse(input))));
          db.exec("BEGIN");
          const at = new Date().toISOString();
          for (const { seq } of claimed) end.run(at, seq);
          db.exec("COMMIT");
        }
      };
      const done = loop();
      return async () => {
        stopping.abort();
        wake();
        await done;
      };
    },
    isEmpty: () => left.get() === undefined,
    close: () => db.close(),
  };
}
