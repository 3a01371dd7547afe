// pouchdb on LevelDB with pouchdb-find; it has no search, and does not wait for the disk.
import PouchDB from "pouchdb";
import find from "pouchdb-find";
import { newId } from "../sample.mjs";

PouchDB.plugin(find);

export async function open({ folder }) {
  const db = new PouchDB(`${folder}/docs`);
  await db.createIndex({ index: { fields: ["author", "rank"], name: "author", ddoc: "author" } });
  await db.createIndex({ index: { fields: ["rank"], name: "rank", ddoc: "rank" } });
  const ids = [];
  const list = async (author) => {
    const selector = { author };
    const sort = [{ author: "desc" }, { rank: "desc" }];
    return (await db.find({ selector, sort, limit: 30, use_index: "author" })).docs;
  };
  const after = async (count) =>
    (
      await db.find({
        selector: { rank: { $gte: count } },
        sort: ["rank"],
        limit: 30,
        use_index: "rank",
      })
    ).docs;
  return {
    async load(chunk) {
      for (const { id } of await db.bulkDocs(chunk)) ids.push(id);
    },
    /** Its indexes are built by the first queries. */
    async loaded() {
      await list("author 0");
      await after(0);
    },
    get: (number) => db.get(ids[number]),
    list,
    pageAfter: (count) => () => after(count),
    insert: (document) => db.put({ _id: newId(), ...document }),
    close: () => db.close(),
  };
}
