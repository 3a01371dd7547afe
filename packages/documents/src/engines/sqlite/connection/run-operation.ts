import {
  noResult,
  type Operation,
  type Result,
  type Statement,
  type Step,
  type Value,
} from "../../operation.ts";
import { registryTable } from "../../own-tables.ts";
import type { Cell, Connection } from "./connection.ts";

/** Runs an operation at once. */
export function runOperation<R>(operation: Operation<R>, perform: (step: Step) => Result): R {
  let next = operation.next();
  while (next.done !== true) {
    let result: Result;
    try {
      result = perform(next.value);
    } catch (error) {
      next = operation.throw(error);
      continue;
    }
    next = operation.next(result);
  }
  return next.value;
}

/** Runs an operation that reads committed documents. */
export function runReading<R>(
  connection: Connection,
  operation: Operation<R>,
  beforeStatement?: (text: string) => void,
): R {
  return runOperation(operation, (step) => {
    if (step.kind === "total") return readTotal(connection, step.collection);
    if (step.kind === "read") {
      beforeStatement?.(step.text);
      return runStatement(connection, step);
    }
    throw new TypeError(`a step of the kind ${step.kind} needs a transaction`);
  });
}

/** Runs a statement. */
export function runStatement(connection: Connection, statement: Statement): Result {
  const { kind, text, values } = statement;
  const cells = cellsOf(values);
  if (kind === "read") {
    const rows = connection.all(text, cells);
    return { rows, count: rows.length };
  }
  if (kind === "insert") return { ...noResult, rowId: connection.insert(text, cells) };
  return { rows: [], count: connection.run(text, cells) };
}

/** Reads the number of documents of a collection, which is kept in the registry. */
export function readTotal(connection: Connection, collection: string): Result {
  const text = `SELECT documents FROM ${registryTable} WHERE name = ?`;
  const row = connection.get(text, [collection]);
  return { rows: [], count: Number(row?.[0] ?? 0) };
}

function cellsOf(values: readonly Value[]): readonly Cell[] {
  if (areCells(values)) return values;
  throw new TypeError("SQLite binds no lists");
}

function areCells(values: readonly Value[]): values is readonly Cell[] {
  for (const value of values) if (typeof value === "object" && value !== null) return false;
  return true;
}
