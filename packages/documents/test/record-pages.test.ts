import { describe, expect, it } from "vitest";
import { recordPages, type SizedRecord } from "../src/document/record-pages.ts";

const mebibyte = 1024 * 1024;
const someTime = "2026-01-01T00:00:00.000Z";

/** Reads records of one size, and tells how many were asked for each time. */
async function readAll(
  count: number,
  size: number,
): Promise<{ readonly ids: readonly string[]; readonly limits: readonly number[] }> {
  const all = Array.from({ length: count }, (_, index): SizedRecord => {
    const id = String(index).padStart(6, "0");
    return {
      record: { id, version: 1, createdAt: someTime, updatedAt: someTime, document: {} },
      size,
    };
  });
  const limits: number[] = [];
  const read = (after: string, limit: number): Promise<readonly SizedRecord[]> => {
    limits.push(limit);
    return Promise.resolve(all.filter(({ record }) => record.id > after).slice(0, limit));
  };
  const records = await Array.fromAsync(recordPages(read, ""));
  return { ids: records.map(({ id }) => id), limits };
}

describe("Pages of records", () => {
  it.each([
    ["small ones, a thousand at a time", 2500, 100, [10, 1000, 1000, 1000]],
    ["larger ones, as many as 4 MiB have room for", 30, mebibyte, [10, 3, 3, 3, 3, 3, 3, 3]],
    ["ones that are larger than that, one by one", 13, 16 * mebibyte, [10, 1, 1, 1, 1]],
    ["a last page that is full", 10, 100, [10, 1000]],
    ["none", 0, 0, [10]],
  ])("hold %s", async (_text, count, size, expected) => {
    const { ids, limits } = await readAll(count, size);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(count);
    expect(limits).toEqual(expected);
  });
});
