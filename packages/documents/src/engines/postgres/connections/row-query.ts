import { isObject } from "@fetchwork/kit";
import { type ClientBase, type Connection, Query } from "pg";
import type { BoundText, Result, Row } from "../../operation.ts";
import { statementMessages } from "./messages.ts";
import { sqlState } from "./postgres-error.ts";

/** Is told how a statement ended: with an error, or with a result. */
export type ResultCallback = (error: unknown, result: Result) => void;

/** The statement is unknown, or returns other columns than when it was prepared. */
const unpreparedStates: ReadonlySet<string | undefined> = new Set(["26000", "0A000"]);

/** The statements that a connection has, by their names; `undefined` for what is not to be relied on. */
type PreparedTexts = Map<string, string | undefined>;

const preparedOn = new WeakMap<object, PreparedTexts>();

/** The statements of a connection on which none is kept. */
const none: PreparedTexts = new Map();

/** Keeps no statements prepared on a connection whose next transaction may have another session of the server. */
export function keepNoStatements(client: ClientBase): void {
  const connection: unknown = Reflect.get(client, "connection");
  if (isObject(connection)) preparedOn.set(connection, none);
}

/**
 * A statement as a query of `pg`, which calls the methods that begin with `handle`.
 *
 * It takes half of the work: all its messages are one write, the server does not describe the rows,
 * and they are kept as they came.
 */
export class RowQuery {
  static {
    // On connections that take several statements at a time `pg` refuses every other class. Nothing
    // of it is used.
    Object.setPrototypeOf(RowQuery.prototype, Query.prototype);
  }

  /** Where `pg` puts its own, to end a query for which there is a limit. */
  callback: ResultCallback;
  /** The limit, in milliseconds. */
  readonly query_timeout: number | undefined;
  readonly #statement: BoundText;
  #prepared: PreparedTexts | undefined;
  #isParsed = false;
  readonly #rows: Row[] = [];
  #count: number | undefined;

  constructor(
    statement: BoundText,
    callback: ResultCallback,
    { limit }: { readonly limit?: number | undefined } = {},
  ) {
    this.#statement = statement;
    this.callback = callback;
    this.query_timeout = limit;
  }

  /** Sends the statement; returns what makes that impossible. */
  submit(connection: Connection): Error | undefined {
    const { text, values } = this.#statement;
    const prepared = preparedOn.get(connection) ?? prepareOn(connection);
    const name = prepared === none ? "" : (this.#statement.name ?? "");
    const isKnown = prepared.get(name) === text;
    const isUnsure = !isKnown && prepared.has(name);
    let messages: Buffer;
    try {
      messages = statementMessages({ name, values, text: isKnown ? undefined : text, isUnsure });
    } catch (error) {
      return error instanceof Error ? error : new Error("the statement cannot be written");
    }
    this.#prepared = prepared;
    this.#isParsed = !isKnown;
    if (name !== "" && !isKnown) prepared.set(name, text);
    if (connection.stream.writable) connection.stream.write(messages);
    return undefined;
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#rows.push(fields);
  }

  /** Takes the number out of texts such as "SELECT 30" and "INSERT 0 1". */
  handleCommandComplete({ text }: { readonly text: string }): void {
    const count = Number(text.slice(text.lastIndexOf(" ") + 1));
    if (!Number.isNaN(count)) this.#count = count;
  }

  handleError(error: unknown): void {
    const name = this.#prepared === none ? "" : (this.#statement.name ?? "");
    if (name !== "" && (this.#isParsed || unpreparedStates.has(sqlState(error)))) {
      this.#prepared?.set(name, undefined);
    }
    this.callback(error, { rows: [], count: 0 });
  }

  handleReadyForQuery(): void {
    const rows = this.#rows;
    try {
      this.callback(undefined, { rows, count: this.#count ?? rows.length });
    } catch (error) {
      // The reader of the messages must come to their end.
      process.nextTick(() => {
        throw error;
      });
    }
  }
}

function prepareOn(connection: Connection): PreparedTexts {
  const prepared: PreparedTexts = new Map();
  preparedOn.set(connection, prepared);
  return prepared;
}
