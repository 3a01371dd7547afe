// lokijs: all in memory; its file is written whole by `saveDatabase`, so an insert is not on the disk.
import { promisify } from "node:util";
import Loki from "lokijs";

export function open({ folder }) {
  const db = new Loki(`${folder}/docs.db`);
  const docs = db.addCollection("docs", { indices: ["author", "rank"] });
  const ids = [];
  const save = promisify((done) => db.saveDatabase(done));
  return {
    load(chunk) {
      for (const { $loki } of docs.insert(chunk)) ids.push($loki);
    },
    loaded: save,
    get: (number) => docs.get(ids[number]),
    list: (author) => docs.chain().find({ author }).simplesort("rank", true).limit(30).data(),
    pageAfter: (count) => () =>
      docs
        .chain()
        .find({ rank: { $gte: count } })
        .simplesort("rank")
        .limit(30)
        .data(),
    search: (word) =>
      docs
        .chain()
        .find({ text: { $regex: [word, "i"] } })
        .limit(30)
        .data(),
    insert: (document) => docs.insert(document),
    close: () => undefined,
  };
}
