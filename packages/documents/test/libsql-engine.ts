import Database from "libsql";
import type { StoreOptions } from "../src/index.ts";
import {
  Connection,
  type SqliteDatabase,
  type SqliteStatement,
} from "../src/engines/sqlite/connection/connection.ts";
import { setUpFile } from "../src/engines/sqlite/set-up-file.ts";
import { SqliteEngine } from "../src/engines/sqlite/sqlite-engine.ts";
import { maintain } from "../src/engines/sqlite/threads/maintenance.ts";
import { parseMigrations } from "../src/migrations/migrate.ts";
import { DocumentStore } from "../src/store/document-store.ts";

/**
 * Opens a store on libSQL, to show what another engine takes: a driver with the methods of
 * `node:sqlite`.
 */
export async function openLibsql(
  path: string,
  { collections = [], migrations, busyTimeout = 5000, onUnindexedQuery }: StoreOptions = {},
): Promise<DocumentStore> {
  const writer = new Connection(new LibsqlDatabase(path, { timeout: 0 }));
  setUpFile(writer, path, { create: true });
  const openReader = (): Connection =>
    new Connection(new LibsqlDatabase(path, { timeout: busyTimeout }));
  const reader = openReader();
  const engine = new SqliteEngine(
    {
      writer,
      reader,
      openReader,
      maintain: (task) =>
        new Promise((resolve) => {
          resolve(maintain(reader, task));
        }),
      release: () => undefined,
    },
    { busyTimeout },
  );
  const store = new DocumentStore(engine, { onUnindexedQuery });
  if (migrations !== undefined) await store.migrate(parseMigrations(migrations));
  await store.prepare(collections);
  return store;
}

class LibsqlDatabase implements SqliteDatabase {
  readonly #database: InstanceType<typeof Database>;

  constructor(path: string, options: { readonly timeout: number }) {
    this.#database = new Database(path, options);
  }

  get isOpen(): boolean {
    return this.#database.open;
  }

  get isTransaction(): boolean {
    return this.#database.inTransaction;
  }

  prepare(sql: string): SqliteStatement {
    return withCodes(() => new LibsqlStatement(this.#database.prepare(sql)));
  }

  exec(sql: string): void {
    withCodes(() => this.#database.exec(sql));
  }

  close(): void {
    this.#database.close();
  }
}

class LibsqlStatement implements SqliteStatement {
  readonly #statement: Database.Statement;

  constructor(statement: Database.Statement) {
    this.#statement = statement;
  }

  get(...values: (number | string | null)[]): unknown {
    return this.all(...values)[0];
  }

  all(...values: (number | string | null)[]): readonly unknown[] {
    // A statement without columns refuses `all`.
    return withCodes(() =>
      this.#statement.reader ? this.#statement.all(...values) : this.#runForNothing(values),
    );
  }

  run(...values: (number | string | null)[]): Database.RunResult {
    return withCodes(() => this.#statement.run(...values));
  }

  setReturnArrays(enabled: boolean): void {
    if (this.#statement.reader) this.#statement.raw(enabled);
  }

  #runForNothing(values: (number | string | null)[]): readonly unknown[] {
    this.#statement.run(...values);
    return [];
  }
}

/** Adds to errors the extended result code where `node:sqlite` has it. */
function withCodes<R>(work: () => R): R {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw Object.assign(error, { errcode: Reflect.get(error, "rawCode") });
  }
}
