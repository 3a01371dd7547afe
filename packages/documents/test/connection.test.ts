import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openStore } from "../src/index.ts";
import { Connection } from "../src/engines/sqlite/connection/connection.ts";
import { temporaryFolder } from "./temporary-folder.ts";

function connect(): Connection {
  const connection = new Connection(new DatabaseSync(":memory:"));
  onTestFinished(() => {
    connection.close();
  });
  return connection;
}

describe("A connection", () => {
  it("refuses rows that are not arrays, instead of losing them", () => {
    const connection = connect();
    const spy = vi
      .spyOn(StatementSync.prototype, "setReturnArrays")
      .mockImplementation(() => undefined);
    onTestFinished(() => {
      spy.mockRestore();
    });
    const failure = expect.objectContaining({ code: "ERR_DOCUMENTS_ENGINE" });
    expect(() => connection.get("SELECT 1", [])).toThrow(failure);
    expect(() => connection.all("SELECT 1", [])).toThrow(failure);
    expect(connection.get("SELECT 1 WHERE FALSE", [])).toBeUndefined();
    expect(connection.all("SELECT 1 WHERE FALSE", [])).toEqual([]);
  });

  it("keeps 128 prepared statements, and lets the oldest go", () => {
    const connection = connect();
    const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
    onTestFinished(() => {
      prepare.mockRestore();
    });
    const read = (number: number): unknown => connection.get(`SELECT ${number}`, [])?.[0];
    for (let number = 0; number < 128; number += 1) expect(read(number)).toBe(number);
    for (let number = 0; number < 128; number += 1) expect(read(number)).toBe(number);
    expect(prepare).toHaveBeenCalledTimes(128);
    expect(read(128)).toBe(128);
    expect(prepare).toHaveBeenCalledTimes(129);
    expect(read(1)).toBe(1);
    expect(read(127)).toBe(127);
    expect(prepare).toHaveBeenCalledTimes(129);
    expect(read(0)).toBe(0);
    expect(prepare).toHaveBeenCalledTimes(130);
  });
});

describe("The connections of a store", () => {
  async function pragmas(url: string): Promise<readonly unknown[]> {
    const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
    const store = await openStore(url);
    onTestFinished(() => store.close());
    const contexts: readonly unknown[] = prepare.mock.contexts;
    const databases = [...new Set(contexts)].filter((context) => context instanceof DatabaseSync);
    prepare.mockRestore();
    const names = ["journal_mode", "synchronous", "trusted_schema"];
    return databases.map((database) =>
      names.map((name) => Object.values(Object(database.prepare(`PRAGMA ${name}`).get()))[0]),
    );
  }

  it("write to a log and wait for the disk at each commit", async () => {
    const [writer, reader, ...others] = await pragmas(`sqlite:${join(temporaryFolder(), "a.db")}`);
    // FULL is 2.
    expect(writer).toEqual(["wal", 2, 0]);
    expect(reader).toContain("wal");
    expect(others).toEqual([]);
  });

  it("never wait for the disk when the store is in memory", async () => {
    const [writer, reader] = await pragmas("sqlite::memory:");
    expect(writer).toEqual(["wal", 0, 0]);
    expect(reader).toContain("wal");
  });
});
