import type { Found, TransactionAccess } from "../engine.ts";
import type { Layout } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";
import { type ReadPlan, readPlanned } from "../operations/find.ts";
import { removeSelected } from "../operations/remove.ts";
import { overError } from "../transaction-errors.ts";
import { toDocumentsError } from "./connections/postgres-error.ts";
import { type OnAdded, runOperation } from "./connections/run-operation.ts";
import type { Session } from "./connections/session.ts";
import { PostgresWriter } from "./statements/dialect.ts";
import { PostgresLayout } from "./statements/layout.ts";

/** Runs operations in an open transaction. */
export function accessThrough(
  session: Session & { readonly open?: boolean },
  prepare: (layout: Layout) => Promise<void>,
  onAdded?: OnAdded,
): TransactionAccess {
  const inside = async <R>(layout: Layout, work: () => Promise<R>): Promise<R> => {
    if (session.open === false) throw overError();
    try {
      await prepare(layout);
      return await work();
    } catch (error) {
      throw toDocumentsError(error, postgresLayout(layout));
    }
  };
  const run = <R>(layout: Layout, operation: () => Operation<R>): Promise<R> =>
    inside(layout, () => runOperation(session, operation(), onAdded));
  return {
    isTransaction: true,
    find: (layout, plan, map) => inside(layout, () => find(session, layout, { plan, map })),
    remove: (layout, removal) => run(layout, () => removeSelected(layout, removal)),
    read: run,
    write: run,
    own: (operation) =>
      runOperation(
        session,
        operation(() => new PostgresWriter()),
      ),
  };
}

/** Does what a plan says. */
export async function find<R>(
  session: Session,
  layout: Layout,
  { plan, map }: { readonly plan: ReadPlan; readonly map: (row: Row) => R },
): Promise<Found<R>> {
  const { rows, ...extent } = await runOperation(session, readPlanned(layout, plan));
  return { items: rows.map(map), ...extent };
}

/** A collection of this engine. */
export function postgresLayout(layout: Layout): PostgresLayout {
  if (layout instanceof PostgresLayout) return layout;
  throw new TypeError("the collection is not one of this engine");
}
