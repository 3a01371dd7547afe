import { describe, expect, it } from "vitest";
import { StatementNames } from "../src/postgres/statement-names.ts";

function use(names: StatementNames, text: string, times: number): string | undefined {
  let name: string | undefined;
  for (let time = 0; time < times; time += 1) name = names.nameOf(text);
  return name;
}

describe("the names of statements", () => {
  it("are given to no text that comes once or twice", () => {
    const names = new StatementNames("list");
    expect(names.nameOf("SELECT 1")).toBeUndefined();
    expect(names.nameOf("SELECT 1")).toBeUndefined();
  });

  it("are given to no more than 64 texts, which keep theirs", () => {
    const names = new StatementNames("list");
    const given = Array.from({ length: 100 }, (_, index) => use(names, `SELECT ${index}`, 3));
    expect(given.filter((name) => name !== undefined)).toHaveLength(64);
    expect(use(names, "SELECT 100", 10)).toBeUndefined();
    expect(names.nameOf("SELECT 63")).toBe(given[63]);
  });

  it("stay the same for a text, differ between texts, and fit into 63 bytes", () => {
    const names = new StatementNames("0123456789abcdef");
    const first = use(names, "SELECT 1", 3);
    const second = use(names, "SELECT 2", 3);
    expect(first).toMatch(/^0123456789abcdef:[\da-f]{32}$/);
    expect(second).not.toBe(first);
    expect(names.nameOf("SELECT 1")).toBe(first);
    expect(use(new StatementNames("0123456789abcdef"), "SELECT 1", 3)).toBe(first);
  });

  it("forget what was counted when a thousand texts came once, so that memory is bounded", () => {
    const names = new StatementNames("list");
    use(names, "SELECT 'first'", 2);
    for (let index = 0; index < 1000; index += 1) names.nameOf(`SELECT ${index}`);
    expect(names.nameOf("SELECT 'first'")).toBeUndefined();
  });
});
