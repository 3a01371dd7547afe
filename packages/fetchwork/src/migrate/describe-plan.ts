import { documentCount } from "../db/document-count.ts";
import { oneLine } from "../command/terminal-text.ts";
import type { Break, Build, MigrationPlan } from "./migration-plan.ts";

/** Describes a plan in lines for people. */
export function describePlan({ breaks, builds, documents }: MigrationPlan): readonly string[] {
  const count = breaks.length === 1 ? "1 change breaks" : `${breaks.length} changes break`;
  const end = breaks.length === 0 ? "every one fits the models" : `${count} some of them`;
  return [
    ...breaks.flatMap(describeBreak),
    ...builds.map(describeBuild),
    `${documentCount(documents)} read: ${end}`,
  ];
}

function describeBreak({
  collection,
  documents,
  expected,
  field,
  ids,
  kind,
}: Break): readonly string[] {
  const more = documents > ids.length ? ", …" : "";
  return [
    oneLine(
      `${kind.padEnd(8)}  ${collection}.${field}: ${documentCount(documents)}, expected ${expected}`,
      400,
    ),
    oneLine(`          ${ids.join(", ")}${more}`, 500),
  ];
}

function describeBuild({ collection, cost, documents, fields, kind }: Build): string {
  const list = fields.length === 0 ? "" : ` (${fields.join(", ")})`;
  return oneLine(
    `build     ${collection}: ${kind}${list} at the next start, ${cost}: ${documentCount(documents)}`,
    400,
  );
}
