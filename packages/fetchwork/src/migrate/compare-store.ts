import { administer, type PlanStep, type Snapshot, type Store } from "@fetchwork/documents";
import { FaultFinder, valueAt } from "./find-faults.ts";
import { knownFields, RenameFinder } from "./find-renames.ts";
import { HashList } from "./hash-list.ts";
import { Affected, type Break, type Build, type MigrationPlan } from "./migration-plan.ts";
import type { Model } from "./model.ts";

const longBuild = 50_000;
const kinds: Readonly<Partial<Record<PlanStep["kind"], Build["kind"]>>> = {
  "build-geo": "geo",
  "build-index": "index",
  "build-search": "search",
};

/** What one reading of a collection leaves for the next step: 8 bytes for each value. */
interface Scan {
  readonly model: Model;
  readonly documents: number;
  readonly breaks: readonly Break[];
  /** Values of each unique index that the store does not have yet. */
  readonly unique: readonly { readonly fields: readonly string[]; readonly values: HashList }[];
}

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

/** Compares the models of a program with the documents of a store, as they are at one moment, and changes nothing. */
export async function compareStore(
  store: Store,
  models: readonly Model[],
  { signal }: { readonly signal: AbortSignal },
): Promise<MigrationPlan> {
  const collections = models.map(({ collection }) => collection);
  const steps = await administer(store).plan({ collections });
  return administer(store).snapshot(async (snapshot) => {
    const held = new Map(snapshot.status.collections.map((each) => [each.name, each.documents]));
    const read = async function* (name: string): ReturnType<typeof liveRecords> {
      for await (const record of liveRecords(snapshot, name)) {
        signal.throwIfAborted();
        yield record;
      }
    };
    const wanted = new Set(models.flatMap(({ references }) => references.map(({ to }) => to)));
    const ids = new Map([...wanted].map((name) => [name, new HashList()]));
    const scans: Scan[] = [];
    for (const model of models) {
      const { name } = model.collection;
      if (held.has(name))
        scans.push(await scan(model, { records: read(name), ids: ids.get(name), steps }));
    }
    const breaks: Break[] = [];
    for (const each of scans) {
      breaks.push(...each.breaks);
      const { references, collection } = each.model;
      if (references.length === 0 && each.unique.length === 0) continue;
      breaks.push(...(await sharedFaults(each, { records: read(collection.name), ids })));
    }
    return {
      documents: scans.reduce((sum, { documents }) => sum + documents, 0),
      breaks,
      builds: steps.flatMap((step) => buildOf(step, held)),
    };
  });
}

/**
 * Reads documents, without those that were removed and are kept.
 *
 * @yields the id of a document, and its fields
 */
async function* liveRecords(
  { records }: Snapshot,
  name: string,
): AsyncGenerator<{ readonly id: string; readonly fields: Readonly<Record<string, unknown>> }> {
  for await (const { id, deletedAt, document } of records(name)) {
    if (deletedAt === undefined) yield { id, fields: { ...document } };
  }
}

type Records = ReturnType<typeof liveRecords>;

async function scan(
  model: Model,
  given: {
    readonly records: Records;
    readonly ids: HashList | undefined;
    readonly steps: readonly PlanStep[];
  },
): Promise<Scan> {
  const faults = new FaultFinder(model);
  const renames = new RenameFinder(model);
  const unique = pendingUnique(model, given.steps).map((fields) => ({
    fields,
    values: new HashList(),
  }));
  let documents = 0;
  for await (const { id, fields } of given.records) {
    documents += 1;
    given.ids?.add(id);
    if (model.schema !== undefined) {
      await faults.check(id, knownFields(model, fields));
      await renames.look(id, fields);
    }
    for (const index of unique) {
      const key = keyOf(fields, index.fields);
      if (key !== undefined) index.values.add(key);
    }
  }
  return { model, documents, breaks: joined(faults.breaks, renames.breaks), unique };
}

/** A field that is missing because it had another name is told once. */
function joined(faults: readonly Break[], renames: readonly Break[]): readonly Break[] {
  const rest = faults.map((fault): Break => {
    const cause = renames.find(({ field, to = [field] }) => to.includes(fault.field));
    if (fault.kind !== "missing" || cause === undefined) return fault;
    return {
      ...fault,
      documents: fault.documents - cause.documents,
      ids: fault.ids.filter((id) => !cause.ids.includes(id)),
    };
  });
  return [...renames, ...rest.filter(({ documents }) => documents > 0)];
}

/** Reads a collection again for what other documents decide. */
async function sharedFaults(
  { model: { collection, references }, unique }: Scan,
  { records, ids }: { readonly records: Records; readonly ids: ReadonlyMap<string, HashList> },
): Promise<readonly Break[]> {
  const checks = [
    ...references.map(({ field, to }) => ({
      kind: "relation" as const,
      field,
      expected: `an id of "${to}"`,
      of: new Affected(),
      isFaulty: (fields: object) =>
        [valueAt(fields, field.split("."))]
          .flat()
          .some((id) => typeof id === "string" && ids.get(to)?.count(id) === 0),
    })),
    ...unique.map(({ fields: paths, values }) => ({
      kind: "unique" as const,
      field: paths.join(", "),
      expected: "a value that no other document has",
      of: new Affected(),
      isFaulty: (fields: object) => {
        const key = keyOf(fields, paths);
        return key !== undefined && values.count(key) > 1;
      },
    })),
  ];
  for await (const { id, fields } of records) {
    for (const check of checks) if (check.isFaulty(fields)) check.of.add(id);
  }
  return checks
    .filter(({ of }) => of.documents > 0)
    .map(({ kind, field, expected, of }) => ({
      kind,
      collection: collection.name,
      field,
      expected,
      ...of.result,
    }));
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
