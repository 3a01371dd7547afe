import type { PlanStep } from "../../api/migration.ts";
import { type Derived, parseSearch, wantedDerived } from "../derived.ts";
import type { StatementWriter } from "../dialect.ts";
import type { Layout } from "../layout.ts";
import type { Operation } from "../operation.ts";
import { registryTable } from "../own-tables.ts";

/** Finds what preparing collections would do, and what no definition asks for. */
export function* planCollections(
  sql: StatementWriter,
  layouts: readonly Layout[],
): Operation<readonly PlanStep[]> {
  const { rows } = yield sql.read(`SELECT name, expires, geo FROM ${registryTable} ORDER BY name`);
  const registered = new Map(
    rows.map(([name, expires, geo]) => [
      String(name),
      { expires: textOf(expires), geo: textOf(geo) },
    ]),
  );
  const steps: PlanStep[] = [];
  for (const layout of layouts) {
    const { name } = layout.definition;
    const current = registered.get(name);
    registered.delete(name);
    if (current === undefined) {
      steps.push({ kind: "create-collection", collection: name, fields: [] });
    } else {
      steps.push(...(yield* planCollection(layout, current)));
    }
  }
  for (const name of registered.keys()) {
    steps.push({ kind: "unknown-collection", collection: name });
  }
  return steps;
}

function* planCollection(
  layout: Layout,
  current: Pick<Derived, "expires" | "geo">,
): Operation<readonly PlanStep[]> {
  const { name: collection, search, expires, geo = [] } = layout.definition;
  const steps: PlanStep[] = [];
  const built = yield* layout.builtIndexes();
  const wanted = new Set<string>();
  const missing = new Map<string, readonly string[]>();
  for (const { name, fields } of layout.indexes) {
    wanted.add(name);
    // An index may consist of one for the values and one for the members of lists.
    if (built.get(name) !== true) missing.set(JSON.stringify(fields), fields);
  }
  for (const fields of missing.values()) steps.push({ kind: "build-index", collection, fields });
  const derived = wantedDerived(layout.definition);
  const searches = yield* layout.generations();
  if (derived.search !== null && searches.get(derived.search) !== true) {
    steps.push({ kind: "build-search", collection, fields: search });
  }
  if (derived.expires !== current.expires) {
    const fields = expires === undefined ? [] : [expires.field];
    steps.push({ kind: "rebuild-expiry", collection, fields });
  }
  if (derived.geo !== current.geo) {
    steps.push({ kind: geo.length === 0 ? "drop-geo" : "build-geo", collection, fields: geo });
  }
  for (const name of built.keys()) {
    const fields = wanted.has(name) ? undefined : layout.fieldsOfIndex(name);
    // The index of members is dropped with that of the values.
    if (fields !== undefined && !name.includes(":members:"))
      steps.push({ kind: "unused-index", collection, fields });
  }
  for (const other of searches.keys()) {
    if (other === derived.search) continue;
    steps.push({ kind: "unused-search", collection, fields: parseSearch(other).fields });
  }
  return steps;
}

function textOf(value: number | string | null | undefined): string | null {
  return typeof value === "string" ? value : null;
}
