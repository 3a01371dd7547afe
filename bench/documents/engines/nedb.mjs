// @seald-io/nedb in a file, with its indexes. It appends to the file and does not wait for the disk.
import Datastore from "@seald-io/nedb";

export async function open({ folder }) {
  const db = new Datastore({ filename: `${folder}/docs.db`, timestampData: true });
  await db.loadDatabaseAsync();
  await db.ensureIndexAsync({ fieldName: "author" });
  await db.ensureIndexAsync({ fieldName: "rank" });
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
    search: (word) => db.findAsync({ text: new RegExp(word, "i") }).limit(30),
    insert: (document) => db.insertAsync(document),
    close: () => undefined,
  };
}
