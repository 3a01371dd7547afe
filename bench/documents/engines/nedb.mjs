// @seald-io/nedb in a file, with its indexes. It appends to the file and does not wait for the
// disk. It has no groups.
import Datastore from "@seald-io/nedb";
import { sumViews } from "../by-hand.mjs";

export async function open({ folder, search, tags }) {
  const db = new Datastore({ filename: `${folder}/docs.db`, timestampData: true });
  await db.loadDatabaseAsync();
  await db.ensureIndexAsync({ fieldName: "author" });
  await db.ensureIndexAsync({ fieldName: "rank" });
  if (tags) await db.ensureIndexAsync({ fieldName: "tags" });
  const ids = [];
  return {
    async load(chunk) {
      for (const { _id } of await db.insertAsync(chunk)) ids.push(_id);
    },
    get: (number) => db.findOneAsync({ _id: ids[number] }),
    list: (author) => db.findAsync({ author }).sort({ rank: -1 }).limit(30),
    pageAfter: (count) => () =>
      db
        .findAsync({ rank: { $gte: count } })
        .sort({ rank: 1 })
        .limit(30),
    search: search ? (word) => db.findAsync({ text: new RegExp(word, "i") }).limit(30) : undefined,
    insert: (document) => db.insertAsync(document),
    tagged: (tag) => db.findAsync({ tags: tag }).sort({ rank: -1 }).limit(30),
    sums: async () => sumViews(await db.findAsync({}, { state: 1, views: 1 })),
    async increment(number) {
      const change = { $inc: { views: 1 } };
      const options = { returnUpdatedDocs: true };
      return (await db.updateAsync({ _id: ids[number] }, change, options)).affectedDocuments;
    },
    close: () => undefined,
  };
}
