import { beforeAll, afterAll, describe, expect, it } from "vitest";
import type { BoundText, Result } from "../src/engines/operation.ts";
import { parsePostgresUrl } from "../src/engines/postgres/connections/address.ts";
import { Connections, run as runOn } from "../src/engines/postgres/connections/connections.ts";
import { parsePostgresOptions } from "../src/engines/postgres/connections/settings.ts";
import { noPostgres, postgresBin } from "./postgres-server.ts";
import { SharedServer } from "./shared-server.ts";

const server = new SharedServer(postgresBin);
let url: string;
/** All statements go through one connection at a time. */
let connections: Connections;

beforeAll(async () => {
  if (noPostgres !== undefined) return;
  url = await server.take();
  const settings = { ...parsePostgresOptions(), poolSize: 1 };
  connections = new Connections(parsePostgresUrl(url), settings);
});

afterAll(async () => {
  if (noPostgres !== undefined) return;
  await connections.close();
  await server.giveBack(url);
});

function run(statement: BoundText): Promise<Result> {
  return connections.readOnce(statement);
}

async function preparedNames(): Promise<readonly unknown[]> {
  const text = "SELECT name FROM pg_prepared_statements ORDER BY name";
  return (await run({ text, values: [] })).rows.map(([name]) => name);
}

describe.skipIf(noPostgres !== undefined)("A statement", () => {
  it("fails as the server says, and leaves the connection usable", async () => {
    await run({ text: "CREATE TEMP TABLE usable (id int)", values: [] });
    await expect(run({ text: "SELECT 1 / $1::int", values: [0] })).rejects.toMatchObject({
      code: "22012",
    });
    expect((await run({ text: "SELECT count(*) FROM usable", values: [] })).rows).toEqual([["0"]]);
  });

  it("loses the connection when its time is over", async () => {
    const client = await connections.acquire();
    const slow = runOn(client, { text: "SELECT pg_sleep(60)", values: [] }, 50);
    await expect(slow).rejects.toThrow("the connection was lost");
    client.release(true);
    expect((await run({ text: "SELECT 1", values: [] })).rows).toEqual([["1"]]);
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
    const client = await connections.acquire();
    const statement = { text: "SELECT $1::text", values: ["a"], name: "kept" };
    const all = [1, 2, 3].map(() => runOn(client, statement));
    expect((await Promise.all(all)).map(({ rows }) => rows)).toEqual([[["a"]], [["a"]], [["a"]]]);
    client.release();
    const names = await preparedNames();
    expect(names).toContain("kept");
    await run({ text: "SELECT $1::int", values: [1] });
    expect(await preparedNames()).toEqual(names);
  });

  it("is prepared again where that failed, or an execution did", async () => {
    const early = { text: "SELECT count(*) FROM later", values: [], name: "early" };
    await expect(run(early)).rejects.toMatchObject({ code: "42P01" });
    await run({ text: "CREATE TEMP TABLE later (id int)", values: [] });
    expect((await run(early)).rows).toEqual([["0"]]);
    const division = { text: "SELECT 1 / $1::int", name: "division" };
    await expect(run({ ...division, values: [0] })).rejects.toMatchObject({ code: "22012" });
    expect((await run({ ...division, values: [1] })).rows).toEqual([["1"]]);
  });

  it("replaces a connection whose prepared statement the server has lost", async () => {
    const statement = { text: "SELECT 1", values: [], name: "forgotten" };
    await run(statement);
    await run({ text: "DEALLOCATE forgotten", values: [] });
    await expect(run(statement)).rejects.toMatchObject({ code: "26000" });
    expect((await run(statement)).rows).toEqual([["1"]]);
  });

  it("replaces a connection when the columns of a prepared statement have changed", async () => {
    await run({ text: "CREATE TABLE grown (id int)", values: [] });
    await run({ text: "INSERT INTO grown VALUES (1)", values: [] });
    const statement = { text: "SELECT * FROM grown", values: [], name: "all of grown" };
    await run(statement);
    await run({ text: "ALTER TABLE grown ADD COLUMN other int DEFAULT 2", values: [] });
    await expect(run(statement)).rejects.toMatchObject({ code: "0A000" });
    expect((await run(statement)).rows).toEqual([["1", "2"]]);
  });
});
