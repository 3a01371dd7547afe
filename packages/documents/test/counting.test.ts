import { describe, expect, it } from "vitest";
import { defineCollection } from "../src/index.ts";
import type { BoundText } from "../src/engines/operation.ts";
import { readPlanned } from "../src/engines/operations/find.ts";
import { runOperation } from "../src/engines/postgres/connections/run-operation.ts";
import type { Session } from "../src/engines/postgres/connections/session.ts";
import { PostgresLayout } from "../src/engines/postgres/statements/layout.ts";
import { parseCount } from "../src/query/parse-query.ts";
import { createStamps } from "../src/document/stamps.ts";

const notes = defineCollection<{ text: string }>("notes", { search: ["text"] });

/** Counts, and returns the names of the statements that did. */
async function namesOf(
  queries: readonly { readonly where?: object; readonly q?: string; readonly max?: number }[],
): Promise<readonly unknown[]> {
  const statements: BoundText[] = [];
  const refuse = (): never => {
    throw new Error("Counting only reads");
  };
  const session: Session = {
    read(statement) {
      statements.push(statement);
      return Promise.resolve({ rows: [["7"]], count: 1 });
    },
    write: refuse,
    together: refuse,
  };
  const layout = new PostgresLayout(notes, createStamps());
  for (const { max, ...query } of queries) {
    const plan = { count: parseCount({ ...query, max }) };
    const { count } = await runOperation(session, readPlanned(layout, plan));
    expect(count).toBe(7);
  }
  return statements.map(({ name }) => name);
}

describe("A statement that counts in PostgreSQL", () => {
  it("is kept for a search, whatever its words are", async () => {
    const [first, second] = await namesOf([{ q: "harbour" }, { q: "lights" }]);
    expect(first).toEqual(expect.any(String));
    expect(second).toBe(first);
  });

  it("is kept for a filter, whatever its values are", async () => {
    const [first, second] = await namesOf([{ where: { text: "a" } }, { where: { text: "b" } }]);
    expect(first).toEqual(expect.any(String));
    expect(second).toBe(first);
  });

  it("is another one where counting stops, and for another filter", async () => {
    const names = await namesOf([{}, { max: 101 }, { where: { text: "a" }, max: 101 }]);
    expect(names).not.toContain(undefined);
    expect(new Set(names).size).toBe(3);
  });
});
