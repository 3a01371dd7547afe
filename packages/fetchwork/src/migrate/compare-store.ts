import { administer, type PlanStep, type Snapshot, type Store } from "@fetchwork/documents";
import { FaultFinder, valueAt } from "./find-faults.ts";
import { knownFields, RenameFinder } from "./find-renames.ts";
import { HashList } from "./hash-list.ts";
import type { Break, Build, MigrationPlan } from "./migration-plan.ts";
import type { Model } from "./model.ts";

const longBuild = 50_000;
const kinds: Readonly<Partial<Record<PlanStep["kind"], Build["kind"]>>> = {
  "build-geo": "geo",
  "build-index": "index",
  "build-search": "search",
};

/** Indexes that are unique in the definition of a model and not built in the store. */
export function pendingUnique(
  { collection: { name, unique } }: Model,
  steps: readonly PlanStep[],
): readonly (readonly string[])[] {
  return unique.filter((fields) =>
    steps.some(
      (step) =>
        step.kind === "build-index" &&
        step.collection === name &&
        step.fields.join() === fields.join(),
    ),
  );
}

/** Compares models with the documents of a store at one moment, and changes nothing. */
export async function compareStore(
  store: Store,
  models: readonly Model[],
  signal: AbortSignal,
): Promise<MigrationPlan> {
  const collections = models.map(({ collection }) => collection);
  const steps = await administer(store).plan({ collections });
  return administer(store).snapshot(async (snapshot) => {
    const held = new Map(snapshot.status.collections.map((each) => [each.name, each.documents]));
    const stored = models.filter(({ collection }) => held.has(collection.name));
    const ids = new Map<string, HashList>();
    for (const { to } of stored.flatMap(({ references }) => references)) {
      if (ids.has(to)) continue;
      const list = new HashList();
      ids.set(to, list);
      if (held.has(to)) for await (const { id } of liveRecords(snapshot, to, signal)) list.add(id);
    }
    const breaks: Break[] = [];
    for (const model of stored) {
      const records = (): Records => liveRecords(snapshot, model.collection.name, signal);
      breaks.push(...(await breaksOf(model, records, ids, pendingUnique(model, steps))));
    }
    return {
      documents: stored.reduce((sum, { collection }) => sum + (held.get(collection.name) ?? 0), 0),
      breaks,
      builds: steps.flatMap((step) => buildOf(step, held)),
    };
  });
}

type Records = AsyncGenerator<{
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}>;

/**
 * Reads documents, without those that were removed and are kept.
 *
 * @yields the id of a document, and its fields
 */
async function* liveRecords({ records }: Snapshot, name: string, signal: AbortSignal): Records {
  for await (const { id, deletedAt, document } of records(name)) {
    signal.throwIfAborted();
    if (deletedAt === undefined) yield { id, fields: { ...document } };
  }
}

/** Reads a collection again for what other documents decide about, with renamed fields renamed. */
async function breaksOf(
  model: Model,
  records: () => Records,
  ids: ReadonlyMap<string, HashList>,
  pending: readonly (readonly string[])[],
): Promise<readonly Break[]> {
  const faults = new FaultFinder(model);
  const finder = new RenameFinder(model);
  for await (const { id, fields } of model.schema === undefined ? [] : records()) {
    await faults.check(id, knownFields(model, fields));
    await finder.look(id, fields);
  }
  const renames = finder.breaks;
  const unique = pending.map((paths) => ({ paths, values: new HashList() }));
  for await (const { fields } of unique.length === 0 ? [] : records()) {
    for (const { paths, values } of unique) {
      const key = keyOf(renamed(fields, renames), paths);
      if (key !== undefined) values.add(key);
    }
  }
  const isDone = unique.length === 0 && model.references.length === 0;
  for await (const { id, fields: before } of isDone ? [] : records()) {
    const fields = renamed(before, renames);
    for (const { field, to } of model.references) {
      const found = [valueAt(fields, field.split("."))].flat();
      if (!found.some((each) => typeof each === "string" && ids.get(to)?.count(each) === 0))
        continue;
      faults.add(id, { kind: "relation", field, expected: `an id of "${to}"` });
    }
    for (const { paths, values } of unique) {
      const key = keyOf(fields, paths);
      if (key === undefined || values.count(key) < 2) continue;
      const expected = "a value that no other document has";
      faults.add(id, { kind: "unique", field: paths.join(", "), expected });
    }
  }
  return joined(faults.breaks, renames);
}

/** The fields as they are after the migration that is written for renames. */
function renamed(fields: Readonly<Record<string, unknown>>, breaks: readonly Break[]): object {
  const moved = breaks.flatMap(({ kind, field, from = "" }) =>
    kind === "rename" && fields[from] !== undefined ? [[field, fields[from]] as const] : [],
  );
  return { ...fields, ...Object.fromEntries(moved) };
}

/** A field that is missing because it had another name is told once. */
function joined(faults: readonly Break[], renames: readonly Break[]): readonly Break[] {
  const rest = faults.map((fault): Break => {
    const cause = renames.find(({ to = [] }) => to.includes(fault.field));
    if (fault.kind !== "missing" || cause === undefined) return fault;
    return {
      ...fault,
      documents: fault.documents - cause.documents,
      ids: fault.ids.filter((id) => !cause.ids.includes(id)),
    };
  });
  return [...renames, ...rest.filter(({ documents }) => documents > 0)];
}

/** Documents in which one of the fields is missing or null are never in conflict. */
function keyOf(fields: object, paths: readonly string[]): string | undefined {
  const values = paths.map((path) => valueAt(fields, path.split(".")));
  return values.every((value) => value !== undefined && value !== null)
    ? JSON.stringify(values)
    : undefined;
}

function buildOf(step: PlanStep, held: ReadonlyMap<string, number>): Build | [] {
  const kind = kinds[step.kind];
  if (kind === undefined || !("fields" in step)) return [];
  const { collection, fields } = step;
  const documents = held.get(collection) ?? 0;
  return { kind, collection, fields, documents, cost: documents < longBuild ? "cheap" : "long" };
}
