// Tags of bare node:sqlite in a table next to the documents with indexes of either column, groups
// with GROUP BY, and a counter with json_set.

/** Makes the table. It takes the columns of a document. */
export function openTags(db, columns) {
  db.exec(`
    CREATE TABLE tags (tag TEXT, seq INTEGER, PRIMARY KEY (tag, seq)) STRICT, WITHOUT ROWID;
    CREATE INDEX tags_of ON tags (seq);
  `);
  const state = "json_extract(doc, '$.state')";
  const views = "json_extract(doc, '$.views')";
  const byRank = "ORDER BY json_extract(doc, '$.rank') DESC, id DESC LIMIT 31";
  const statements = {
    add: db.prepare("INSERT OR IGNORE INTO tags VALUES (?, ?)"),
    // For a tag that few documents have it is best to read and to sort those, for one that many
    // have to take documents in their order. SQLite cannot know which it is; the user knows here.
    rare: db.prepare(
      `SELECT ${columns} FROM docs WHERE seq IN (SELECT seq FROM tags WHERE tag = ?) ${byRank}`,
    ),
    common: db.prepare(
      `SELECT ${columns} FROM docs INDEXED BY rank
       WHERE EXISTS (SELECT 1 FROM tags WHERE tag = ? AND tags.seq = docs.seq) ${byRank}`,
    ),
    sums: db.prepare(
      `SELECT ${state} AS state, sum(${views}) AS views FROM docs GROUP BY ${state}`,
    ),
    increment: db.prepare(
      `UPDATE docs SET doc = json_set(doc, '$.views', ${views} + 1), version = version + 1, updated_at = ?
       WHERE id = ? RETURNING ${columns}`,
    ),
  };
  return {
    add(seq, tags) {
      for (const tag of tags) statements.add.run(tag, seq);
    },
    works: ({ ids, read }) => ({
      tagged: (tag, frequency) => statements[frequency].all(tag).slice(0, 30).map(read),
      sums: () => statements.sums.all(),
      increment: (number) => read(statements.increment.get(new Date().toISOString(), ids[number])),
    }),
  };
}
