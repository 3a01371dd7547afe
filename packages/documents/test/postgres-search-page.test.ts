import { expect, it } from "vitest";
import { createStamps } from "../src/document/stamps.ts";
import type { Row } from "../src/engines/operation.ts";
import { readPlanned } from "../src/engines/operations/find.ts";
import { PostgresLayout } from "../src/engines/postgres/statements/layout.ts";
import { defineCollection } from "../src/index.ts";
import { parseQuery } from "../src/query/parse-query.ts";

const notes = defineCollection("notes", { search: ["text"], indexes: ["tags"] });

/** Answers the first statement of a page, and tells whether it was the only one. */
function readPage(query: object, answer: readonly Row[]): { isOnly: boolean; rows: unknown } {
  const layout = new PostgresLayout(notes, createStamps());
  const find = { query: parseQuery({ ...query, limit: 10 }), after: undefined };
  const operation = readPlanned(layout, { find });
  operation.next();
  const { done = false, value } = operation.next({ rows: answer, count: answer.length });
  return { isOnly: done, rows: "rows" in value ? value.rows : undefined };
}

it.each([{ q: "harbour" }, { where: { tags: { contains: "sea" } } }])(
  "PostgreSQL reads a page for %o by the statement that counts the documents, if they are few",
  (query) => {
    const document = ['["a", 1, "2026", "2026", {"text": "harbour"}, null]'];
    expect(readPage(query, [["1"], document])).toEqual({ isOnly: true, rows: [document] });
    expect(readPage(query, [["0"]])).toEqual({ isOnly: true, rows: [] });
    expect(readPage(query, [["4001"]])).toEqual({ isOnly: false, rows: undefined });
    expect(readPage(query, [[null]])).toEqual({ isOnly: false, rows: undefined });
  },
);
