import { describe, expect, it } from "vitest";
import { readCursor, writeCursor } from "../src/query/cursor.ts";
import type { SortValue } from "../src/query/keyset.ts";
import { parseQuery } from "../src/query/parse-query.ts";

const { order } = parseQuery({ sort: ["a"] });

describe("A cursor that somebody made up", () => {
  it.each<[string, readonly SortValue[]]>([
    ["too few values", ["x"]],
    ["too many values", ["x", "id", "more"]],
    ["a text that no document has", ["\0", "id"]],
  ])("is refused with %s, though its digest is right", (_text, values) => {
    const cursor = writeCursor("notes", order, values);
    expect(() => readCursor("notes", order, cursor)).toThrow(
      expect.objectContaining({ code: "ERR_DOCUMENTS_QUERY" }),
    );
  });

  it("is read with a value for each field, for its own collection only", () => {
    const cursor = writeCursor("notes", order, ["x", "id"]);
    expect(readCursor("notes", order, cursor)).toEqual(["x", "id"]);
    expect(() => readCursor("other", order, cursor)).toThrow();
  });
});
