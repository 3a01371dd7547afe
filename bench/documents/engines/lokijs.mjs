// lokijs: all in memory; its file is written whole by `saveDatabase`, so an insert is not on the
// disk.
import { promisify } from "node:util";
import Loki from "lokijs";
import { sumViews } from "../by-hand.mjs";

export function open({ folder, search }) {
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
    search: search
      ? (word) =>
          docs
            .chain()
            .find({ text: { $regex: [word, "i"] } })
            .limit(30)
            .data()
      : undefined,
    insert: (document) => docs.insert(document),
    tagged: (tag) =>
      docs
        .chain()
        .find({ tags: { $contains: tag } })
        .simplesort("rank", true)
        .limit(30)
        .data(),
    sums: () => sumViews(docs.find()),
    increment(number) {
      const document = docs.get(ids[number]);
      document.views += 1;
      return docs.update(document);
    },
    close: () => undefined,
  };
}
