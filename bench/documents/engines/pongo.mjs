// @event-driven-io/pongo on the same PostgreSQL, with the index that its README advises. Its `find`
// has neither order nor limit, so a list reads all that match; it has no groups.
import { pongoClient } from "@event-driven-io/pongo";
import pg from "pg";

export function open({ url }) {
  const client = pongoClient(url);
  const docs = client.db().collection("docs");
  const ids = [];
  const sorted = (found, sign) => found.toSorted((a, b) => sign * (a.rank - b.rank)).slice(0, 30);
  return {
    async load(chunk) {
      for (const id of (await docs.insertMany(chunk)).insertedIds) ids.push(id);
    },
    async loaded() {
      const connection = new pg.Client(url);
      await connection.connect();
      await connection.query("CREATE INDEX ON docs USING gin (data jsonb_path_ops)");
      await connection.query("VACUUM (ANALYZE) docs");
      await connection.end();
    },
    get: (number) => docs.findOne({ _id: ids[number] }),
    list: async (author) => sorted(await docs.find({ author }), -1),
    insert: (document) => docs.insertOne(document),
    tagged: async (tag) => sorted(await docs.find({ tags: { $all: [tag] } }), -1),
    async increment(number) {
      const _id = ids[number];
      await docs.updateOne({ _id }, { $inc: { views: 1 } });
    },
    close: () => client.close(),
  };
}
