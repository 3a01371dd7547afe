import { DatabaseSync, StatementSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Connection } from "../src/sqlite/connection.ts";

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
