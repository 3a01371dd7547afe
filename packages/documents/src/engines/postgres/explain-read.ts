import type { ReadPlan } from "../operations/find.ts";
import { plannedStatements } from "../operations/planned-statements.ts";
import type { Session } from "./connections/session.ts";
import type { PostgresLayout } from "./statements/layout.ts";

/**
 * Asks the server how it would run the statements of a read, without running them.
 *
 * @internal
 */
export async function explainRead(
  session: Session,
  layout: PostgresLayout,
  plan: ReadPlan,
): Promise<readonly string[]> {
  const options = { isTimed: false, keepsTotals: false };
  const plans: string[] = [];
  for (const { text, values } of plannedStatements(layout, plan, options)) {
    const { rows } = await session.read({ text: `EXPLAIN ${text}`, values });
    plans.push(rows.map(([line]) => String(line)).join("\n"));
  }
  return plans;
}
