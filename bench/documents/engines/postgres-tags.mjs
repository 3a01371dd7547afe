// Tags in a column of lists with a GIN index, groups with GROUP BY, and a counter with jsonb_set;
// for bare pg and for PGlite.

/** Writes the statement of an increment; it takes the columns to return. */
export const INCREMENT = `
  UPDATE docs SET doc = jsonb_set(doc, '{views}', to_jsonb((doc ->> 'views')::numeric + 1)),
  version = version + 1, updated_at = $1 WHERE id = $2 RETURNING `;

/**
 * Takes what runs a statement by its name, the columns of a document, all ids, and what reads a
 * row.
 */
export function tagWorks({ query, columns, ids, read }) {
  const tagged = `SELECT ${columns} FROM docs WHERE tags @> ARRAY[$1]
    ORDER BY ((doc ->> 'rank')::float8) DESC, id DESC LIMIT 31`;
  const texts = {
    // The same, because PostgreSQL chooses by how often a tag is there; each has a separate plan.
    rare: tagged,
    common: tagged,
    sums: "SELECT doc ->> 'state' AS state, sum((doc ->> 'views')::numeric) AS views FROM docs GROUP BY 1",
    increment: INCREMENT + columns,
  };
  const rows = async (name, values) => (await query(name, texts[name], values)).rows;
  return {
    tagged: async (tag, frequency) => (await rows(frequency, [tag])).slice(0, 30).map(read),
    async sums() {
      const sums = await rows("sums", []);
      return sums.map(({ state, views }) => ({ state, views: Number(views) }));
    },
    async increment(number) {
      const [row] = await rows("increment", [new Date().toISOString(), ids[number]]);
      return read(row);
    },
  };
}
