import type { PlanStep } from "@fetchwork/documents";

/** Whether a step of a plan would change the store. */
export function isPending({ kind }: PlanStep): boolean {
  return kind !== "unknown-collection" && kind !== "unused-index" && kind !== "unused-search";
}

/** Whether a plan builds an index of these fields. */
export function isIndexMissing(
  steps: readonly PlanStep[],
  collection: string,
  fields: readonly string[],
): boolean {
  return steps.some(
    (step) =>
      step.kind === "build-index" &&
      step.collection === collection &&
      step.fields.join() === fields.join(),
  );
}

/** Describes a step of a plan in one line. */
export function describeStep(step: PlanStep): string {
  if (step.kind === "migrate") return `migration ${step.id}: ${step.name}`;
  if (step.kind === "unknown-collection") {
    return `collection ${step.collection}: has no definition`;
  }
  const { kind, collection, fields } = step;
  if (kind === "create-collection") return `collection ${collection}: will be created`;
  const list = fields.length === 0 ? "" : ` (${fields.join(", ")})`;
  const words = {
    "build-geo": "places to be indexed",
    "build-index": "index to be built",
    "build-search": "search to be built",
    "drop-geo": "index of places to be dropped",
    "rebuild-expiry": "expiry to be worked out",
    "unused-index": "index that no definition names",
    "unused-search": "search of another version of the program",
  };
  return `collection ${collection}: ${words[kind]}${list}`;
}
