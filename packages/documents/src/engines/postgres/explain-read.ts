import type { ReadPlan } from "../operations/find.ts";
import { plannedStatements } from "../operations/planned-statements.ts";
import type { StatementPlan } from "../statement-plan.ts";
import type { Session } from "./connections/session.ts";
import type { PostgresLayout } from "./statements/layout.ts";
import { readQueryPlan } from "./statements/query-plan.ts";

/**
 * Asks the server how it would run the statements of a read, without running them.
 *
 * @internal
 */
export async function explainRead(
  session: Session,
  layout: PostgresLayout,
  plan: ReadPlan,
): Promise<readonly StatementPlan[]> {
  const options = { isTimed: false, keepsTotals: false };
  const plans: StatementPlan[] = [];
  for (const { text, values } of plannedStatements(layout, plan, options)) {
    const [json] = (await session.read({ text: `EXPLAIN (FORMAT JSON) ${text}`, values })).rows;
    const { rows: lines } = await session.read({ text: `EXPLAIN ${text}`, values });
    plans.push(readQueryPlan(String(json?.[0]), lines, layout));
  }
  return plans;
}
