import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BoundText, Result } from "../src/engines/operation.ts";
import { RowQuery } from "../src/engines/postgres/connections/row-query.ts";
import { connectionOf, noPostgres, postgresBin } from "./postgres-server.ts";
import { SharedServer } from "./shared-server.ts";

const server = new SharedServer(postgresBin);
let url: string;
let client: Client;

beforeAll(async () => {
  if (noPostgres !== undefined) return;
  url = await server.take();
  client = new Client({ ...connectionOf(url), pipeline: true });
  await client.connect();
});

afterAll(async () => {
  if (noPostgres !== undefined) return;
  await client.end();
  await server.giveBack(url);
});

function run(statement: BoundText, limit?: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown, result: Result): void => {
      if (error instanceof Error) reject(error);
      else resolve(result);
    };
    client.query(new RowQuery(statement, settle, { limit }));
  });
}

async function preparedNames(): Promise<readonly unknown[]> {
  const text = "SELECT name FROM pg_prepared_statements ORDER BY name";
  return (await run({ text, values: [] })).rows.map(([name]) => name);
}

describe.skipIf(noPostgres !== undefined)("A statement as a query of pg", () => {
  it("fails as the server says, and leaves the connection usable", async () => {
    await expect(run({ text: "SELECT 1 / $1::int", values: [0] })).rejects.toMatchObject({
      code: "22012",
    });
    expect((await run({ text: "SELECT 1", values: [] })).rows).toEqual([["1"]]);
  });

  it("refuses more values than a message has places for, and leaves the connection usable", async () => {
    const values = Array.from({ length: 65_536 }, () => "a");
    await expect(run({ text: "SELECT 1", values })).rejects.toThrow(RangeError);
    expect((await run({ text: "SELECT 1", values: [] })).rows).toEqual([["1"]]);
  });

  it("ends when its time is over", async () => {
    const own = new Client({ ...connectionOf(url), pipeline: true });
    own.on("error", () => undefined);
    await own.connect();
    const failure = new Promise((resolve) => {
      own.query(new RowQuery({ text: "SELECT pg_sleep(60)", values: [] }, resolve, { limit: 50 }));
    });
    await expect(failure).resolves.toMatchObject({ message: "Query read timeout" });
  });

  it.each([
    ["a number", 1.5e300, "numeric", String(10n ** 300n + 5n * 10n ** 299n)],
    ["null", null, "text", null],
    ["an empty text", "", "text", ""],
    ["a text", `"',\\{}\n\u00e9\u65e5\u{1f600}`, "text", `"',\\{}\n\u00e9\u65e5\u{1f600}`],
    ["a long text", "\u00e9".repeat(100_000), "text", "\u00e9".repeat(100_000)],
    ["half of a pair of surrogates", "a\ud800b", "text", "a\ufffdb"],
    ["an empty array", [], "text[]", "[]"],
    [
      "an array",
      ["", "null", "NULL", null, `a"b\\c,d{e}`, " \n"],
      "text[]",
      String.raw`["","null","NULL",null,"a\"b\\c,d{e}"," \n"]`,
    ],
    ["an array of numbers", [1, null, -2.5], "float8[]", "[1,null,-2.5]"],
  ])("binds %s", async (_title, value, type, expected) => {
    const text = `SELECT ${type.endsWith("[]") ? "to_json" : ""}($1::${type})`;
    expect((await run({ text, values: [value] })).rows).toEqual([[expected]]);
    expect((await run({ text, values: [value], name: `bind ${type}` })).rows).toEqual([[expected]]);
    expect((await run({ text, values: [value], name: `bind ${type}` })).rows).toEqual([[expected]]);
  });

  it("counts the rows that were changed, and those that were read", async () => {
    await run({ text: "CREATE TEMP TABLE counted (id int)", values: [] });
    const inserted = await run({ text: "INSERT INTO counted VALUES (1), (2), (3)", values: [] });
    expect(inserted).toEqual({ rows: [], count: 3 });
    const changed = await run({ text: "UPDATE counted SET id = 7 WHERE id > 1", values: [] });
    expect(changed).toEqual({ rows: [], count: 2 });
    const read = await run({ text: "SELECT id FROM counted WHERE id = 7", values: [] });
    expect(read).toEqual({ rows: [["7"], ["7"]], count: 2 });
  });

  it("keeps prepared what has a name, also when it is asked for several times at once", async () => {
    const statement = { text: "SELECT $1::text", values: ["a"], name: "kept" };
    const results = await Promise.all([run(statement), run(statement), run(statement)]);
    expect(results.map(({ rows }) => rows)).toEqual([[["a"]], [["a"]], [["a"]]]);
    expect(await preparedNames()).toContain("kept");
  });

  it("keeps nothing prepared that has no name", async () => {
    const before = await preparedNames();
    await run({ text: "SELECT $1::text", values: ["a"] });
    expect(await preparedNames()).toEqual(before);
  });

  it("never runs another statement that has the same name", async () => {
    const name = "shared";
    const results = await Promise.all([
      run({ text: "SELECT 'one'", values: [], name }),
      run({ text: "SELECT 'two'", values: [], name }),
      run({ text: "SELECT 'two'", values: [], name }),
      run({ text: "SELECT $1::text", values: ["three"], name }),
    ]);
    expect(results.map(({ rows }) => rows)).toEqual([[["one"]], [["two"]], [["two"]], [["three"]]]);
  });

  it("prepares again what could not be prepared", async () => {
    const statement = { text: "SELECT count(*) FROM later", values: [], name: "early" };
    await expect(run(statement)).rejects.toMatchObject({ code: "42P01" });
    await run({ text: "CREATE TEMP TABLE later (id int)", values: [] });
    expect((await run(statement)).rows).toEqual([["0"]]);
  });

  it("prepares again what was prepared by an execution that failed", async () => {
    const statement = { text: "SELECT 1 / $1::int", name: "division" };
    await expect(run({ ...statement, values: [0] })).rejects.toMatchObject({ code: "22012" });
    expect((await run({ ...statement, values: [1] })).rows).toEqual([["1"]]);
  });

  it("prepares again what the server forgot, after a failure", async () => {
    const statement = { text: "SELECT 1", values: [], name: "forgotten" };
    await run(statement);
    await run({ text: "DEALLOCATE forgotten", values: [] });
    await expect(run(statement)).rejects.toMatchObject({ code: "26000" });
    expect((await run(statement)).rows).toEqual([["1"]]);
  });

  it("prepares again what gives other columns than before, after a failure", async () => {
    await run({ text: "CREATE TEMP TABLE grown (id int)", values: [] });
    await run({ text: "INSERT INTO grown VALUES (1)", values: [] });
    const statement = { text: "SELECT * FROM grown", values: [], name: "all of grown" };
    await run(statement);
    await run({ text: "ALTER TABLE grown ADD COLUMN other int DEFAULT 2", values: [] });
    await expect(run(statement)).rejects.toMatchObject({ code: "0A000" });
    expect((await run(statement)).rows).toEqual([["1", "2"]]);
  });
});
