// @fetchwork/documents on either engine.
import pg from "pg";
import { defineCollection, openStore } from "../../../packages/documents/src/index.ts";

export async function open({ url, folder, search, tags = false }) {
  const definition = defineCollection("docs", {
    indexes: [["author", "rank"], "rank", ...(tags ? ["tags"] : [])],
    search: search ? ["title", "text"] : [],
  });
  const store = await openStore(url ?? `sqlite:${folder}/docs.db`, { collections: [definition] });
  const docs = store.collection(definition);
  const ids = [];
  return {
    async load(chunk) {
      for (const { id } of await docs.insertMany(chunk)) ids.push(id);
    },
    // Which PostgreSQL does by itself a minute later, and the peers here at once.
    async loaded() {
      if (url === undefined) return;
      const client = new pg.Client(url);
      await client.connect();
      await client.query("VACUUM (ANALYZE) docs");
      await client.end();
    },
    get: (number) => docs.get(ids[number]),
    list: (author) => docs.find({ where: { author }, sort: ["-rank"], limit: 30 }),
    async pageAfter(count) {
      let after;
      for (let passed = 0; passed < count;) {
        const limit = Math.min(10_000, count - passed);
        after = (await docs.page({ sort: ["rank"], limit, after })).next;
        passed += limit;
      }
      return async () => (await docs.page({ sort: ["rank"], limit: 30, after })).items;
    },
    search: search ? (word) => docs.find({ q: word, limit: 30 }) : undefined,
    insert: (document) => docs.insert(document),
    async tagged(tag) {
      const where = { tags: { contains: tag } };
      return (await docs.page({ where, sort: ["-rank"], limit: 30 })).items;
    },
    sums: () => docs.aggregate({ by: "state", values: { views: { sum: "views" } } }),
    increment: (number) => docs.increment(ids[number], { views: 1 }),
    close: () => store.close(),
  };
}
