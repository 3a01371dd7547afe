import { administer, type PlanStep, type Snapshot, type Store } from "@fetchwork/documents";
import type { MigratedFields } from "@fetchwork/service";
import { isIndexMissing } from "../db/describe-step.ts";
import { type Fault, faultsOf, valueAt } from "./find-faults.ts";
import { findRenames, knownFields } from "./find-renames.ts";
import { HashList } from "./hash-list.ts";
import {
  type Break,
  type Build,
  type MigrationPlan,
  type Rename,
  withDocument,
} from "./migration-plan.ts";
import type { Model } from "./model.ts";

const longBuild = 50_000;
const maxFaults = 200;

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
    const targets = stored.flatMap(({ references }) => references.map(({ to }) => to));
    for (const to of new Set(targets)) {
      const list = new HashList();
      ids.set(to, list);
      if (held.has(to)) for await (const [id] of liveRecords(snapshot, to, signal)) list.add(id);
    }
    const breaks: Break[] = [];
    for (const model of stored) {
      const { name, unique } = model.collection;
      const records = (): Records => liveRecords(snapshot, name, signal);
      const pending = unique.filter((fields) => isIndexMissing(steps, name, fields));
      breaks.push(...(await breaksOf(model, records, ids, pending)));
    }
    return {
      documents: stored.reduce((sum, { collection }) => sum + (held.get(collection.name) ?? 0), 0),
      breaks,
      builds: steps.flatMap((step) => buildOf(step, held)),
    };
  });
}

type Records = AsyncGenerator<readonly [id: string, fields: MigratedFields]>;

/**
 * Reads documents, without those that were removed and are kept.
 *
 * @yields the id of a document, and its fields
 */
async function* liveRecords({ records }: Snapshot, name: string, signal: AbortSignal): Records {
  for await (const { id, deletedAt, document } of records(name)) {
    signal.throwIfAborted();
    if (deletedAt === undefined) yield [id, { ...document }];
  }
}

/** Reads a collection again for what other documents decide about, with renamed fields renamed. */
async function breaksOf(
  model: Model,
  records: () => Records,
  ids: ReadonlyMap<string, HashList>,
  pending: readonly (readonly string[])[],
): Promise<readonly Break[]> {
  const renames = model.schema === undefined ? [] : await findRenames(model, records());
  const found = new Map<string, Break>();
  const add = (id: string, fault: Fault): void => {
    const key = `${fault.kind} ${fault.field}`;
    const known = found.get(key);
    // Names may come from documents, as those of a record do.
    if (known === undefined && found.size >= maxFaults) return;
    const none = { ...fault, collection: model.collection.name, documents: 0, ids: [] };
    found.set(key, withDocument(known ?? none, id));
  };
  const unique = pending.map((paths) => ({ paths, values: new HashList() }));
  const isChecked = model.schema !== undefined || unique.length > 0;
  for await (const [id, fields] of isChecked ? records() : []) {
    // A field that is missing because it had another name is reported once.
    const moved = renames.flatMap(({ from, to }) => (Object.hasOwn(fields, from) ? to : []));
    for (const fault of await faultsOf(model, knownFields(model, fields))) {
      if (fault.kind !== "missing" || !moved.includes(fault.field)) add(id, fault);
    }
    for (const { paths, values } of unique) values.add(keyOf(renamed(fields, renames), paths));
  }
  const isDone = unique.length === 0 && model.references.length === 0;
  for await (const [id, before] of isDone ? [] : records()) {
    const fields = renamed(before, renames);
    for (const { field, to } of model.references) {
      const list = ids.get(to);
      const values = [valueAt(fields, field.split("."))].flat();
      const isLost = values.some((each) => typeof each === "string" && list?.count(each) === 0);
      if (isLost) add(id, { kind: "relation", field, expected: `an id of "${to}"` });
    }
    for (const { paths, values } of unique) {
      if (values.count(keyOf(fields, paths)) < 2) continue;
      const expected = "a value that no other document has";
      add(id, { kind: "unique", field: paths.join(", "), expected });
    }
  }
  return [...renames, ...found.values()];
}

/** The fields as they are after the migration that is written for renames. */
function renamed(fields: MigratedFields, renames: readonly Rename[]): MigratedFields {
  const moved = renames.flatMap(({ kind, field, from }) =>
    kind === "rename" && fields[from] !== undefined ? [[field, fields[from]] as const] : [],
  );
  return { ...fields, ...Object.fromEntries(moved) };
}

/** Documents in which one of the fields is missing or null are never in conflict. */
function keyOf(fields: MigratedFields, paths: readonly string[]): string | undefined {
  const values = paths.map((path) => valueAt(fields, path.split(".")));
  const isWhole = values.every((value) => value !== undefined && value !== null);
  return isWhole ? JSON.stringify(values) : undefined;
}

function buildOf(step: PlanStep, held: ReadonlyMap<string, number>): Build | [] {
  const kind = /^build-(.+)/.exec(step.kind)?.[1];
  if (kind === undefined || !("fields" in step)) return [];
  const { collection, fields } = step;
  const documents = held.get(collection) ?? 0;
  return { kind, collection, fields, documents, cost: documents < longBuild ? "cheap" : "long" };
}
