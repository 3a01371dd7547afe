import type { SnapshotAccess, TransactionAccess } from "../engine.ts";
import type { Layout } from "../layout.ts";
import type { Operation } from "../operation.ts";
import { readPlanned } from "../operations/find.ts";
import { removeSelected } from "../operations/remove.ts";
import type { Connection } from "./connection/connection.ts";
import { runReading } from "./connection/run-operation.ts";
import type { Session } from "./session.ts";
import { SqliteWriter } from "./statements/dialect.ts";
import { SqliteLayout } from "./statements/layout.ts";

/** Runs operations in an open transaction, which no other thread can see into. */
export function accessThrough(session: Session): TransactionAccess {
  const run = <R>(layout: Layout, operation: () => Operation<R>): Promise<R> =>
    attempt(() => session.run(sqliteLayout(layout), operation));
  return {
    isTransaction: true,
    async find(layout, plan, map) {
      const { rows, ...extent } = await run(layout, () => readPlanned(layout, plan));
      return { items: rows.map(map), ...extent };
    },
    remove: (layout, removal) => run(layout, () => removeSelected(layout, removal)),
    read: run,
    write: run,
    own: (operation) => attempt(() => session.run(undefined, () => operation(beginOwn))),
  };
}

export function snapshotThrough(connection: Connection): SnapshotAccess {
  return {
    own: (operation) => attempt(() => runReading(connection, operation(beginOwn))),
    hasColumn: (collection, column) =>
      attempt(() => {
        const columns = connection.all("SELECT name FROM pragma_table_info(?)", [collection]);
        return columns.some(([name]) => name === column);
      }),
  };
}

export function beginOwn(): SqliteWriter {
  return new SqliteWriter();
}

/** Does work at once; what it throws becomes a rejection. */
export function attempt<R>(work: () => Promise<R> | R): Promise<R> {
  return new Promise((resolve) => {
    resolve(work());
  });
}

export function sqliteLayout(layout: Layout): SqliteLayout {
  if (layout instanceof SqliteLayout) return layout;
  throw new TypeError("the collection is not one of this engine");
}
