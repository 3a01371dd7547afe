import type { Layout } from "../layout.ts";
import { noResult, type Statement } from "../operation.ts";
import { readIndexed, type ReadPlan } from "./find.ts";

/** About a kilometre, as the square of a chord: a first attempt of a search for the nearest documents. */
const firstReach = 2.5e-8;

/**
 * Returns the statements of a plan without running any. `keepsTotals` says whether the engine keeps the number of
 * documents, which then takes no statement.
 */
export function plannedStatements(
  layout: Layout,
  plan: ReadPlan,
  { isTimed, keepsTotals }: { readonly isTimed: boolean; readonly keepsTotals: boolean },
): readonly Statement[] {
  const statements: Statement[] = [];
  const near = plan.find?.query.near;
  if (plan.find !== undefined && near !== undefined) {
    const { query } = plan.find;
    // The next attempts read the same index, in which each looks further.
    const reach = query.limit === undefined ? near.greatest : Math.min(near.greatest, firstReach);
    const search = { near, selection: query, reach, isTimed };
    statements.push(layout.geo.select(search, query.limit, query.offset));
  }
  const rest = near === undefined ? plan : { ...plan, find: undefined };
  const operation = readIndexed(layout, rest, { isTimed, unindexed: [] });
  for (let next = operation.next(); next.done !== true;) {
    const step = next.value;
    if (step.kind === "read") statements.push(step);
    const isUnknown = step.kind === "total" && step.statement === undefined && !keepsTotals;
    next = operation.next({ ...noResult, count: isUnknown ? -1 : 0 });
  }
  return statements;
}
