import { closestName } from "@fetchwork/kit";
import type { MigratedFields } from "@fetchwork/service";
import { type Break, type Rename, withDocument } from "./migration-plan.ts";
import { issuesOf } from "./find-faults.ts";
import type { Model } from "./model.ts";

const maxPairs = 500;
/** Values of a field that are tried in another one. */
const maxTries = 100;

/** A field without a model, and one that documents lack. */
interface Pair extends Pick<Break, "documents" | "ids"> {
  readonly from: string;
  readonly to: string;
  /** Whether the values that were tried fit. */
  readonly fits: boolean;
}

/** Finds fields without a model whose values belong into fields that the documents lack. */
export async function findRenames(
  model: Model,
  records: AsyncIterable<readonly [id: string, fields: MigratedFields]>,
): Promise<readonly Rename[]> {
  const { others, properties, schema } = model;
  const pairs = new Map<string, Pair>();
  for await (const [id, document] of records) {
    const absent = Object.keys(properties).filter((name) => !Object.hasOwn(document, name));
    const unknown = Object.keys(document).filter(
      (name) => !Object.hasOwn(properties, name) && !others.has(name),
    );
    for (const [from, to] of unknown.flatMap((from) => absent.map((to) => [from, to] as const))) {
      const key = JSON.stringify([from, to]);
      const pair = pairs.get(key) ?? { from, to, documents: 0, ids: [], fits: true };
      if (pair.documents === 0 && pairs.size >= maxPairs) break;
      let { fits } = pair;
      if (fits && pair.documents < maxTries) {
        const tried = { ...knownFields(model, document), [to]: document[from] };
        const issues = await issuesOf(schema, tried);
        fits = !issues.some(({ path }) => path[0] === to);
      }
      pairs.set(key, { ...withDocument(pair, id), fits });
    }
  }
  return chooseRenames(model, [...pairs.values()]);
}

/**
 * A field is split into required ones whose names contain its name. It is renamed to one with a
 * close name, or to a required one that only its values fit.
 */
function chooseRenames({ collection, required }: Model, pairs: readonly Pair[]): readonly Rename[] {
  const found: Rename[] = [];
  let free = pairs;
  const add = ({ from, documents, ids }: Pair, to: readonly string[]): void => {
    free = free.filter((pair) => pair.from !== from && !to.includes(pair.to));
    const parts = to.map((name) => `"${name}"`).join(" and ");
    const kind = to.length > 1 ? "split" : "rename";
    const expected = `"${from}" ${kind === "split" ? "split into" : "renamed to"} ${parts}`;
    const field = to.join(", ");
    found.push({ kind, collection: collection.name, field, from, to, expected, documents, ids });
  };
  for (const pair of pairs) {
    const [first = pair, ...more] = free.filter(
      ({ from, to }) => from === pair.from && required.has(to) && isInside(from, to),
    );
    if (more.length > 0) add(first, [first.to, ...more.map(({ to }) => to)]);
  }
  free = free.filter(({ fits }) => fits);
  for (const pair of free) {
    const { from, to } = pair;
    const names = free.filter((each) => each.from === from).map((each) => each.to);
    const inside = names.find((name) => isInside(from, name) || isInside(name, from));
    if (to === (closestName(from, names) ?? inside)) add(pair, [to]);
  }
  for (const pair of free) {
    const rivals = free.filter(({ to }) => to === pair.to);
    if (rivals.length === 1 && rivals[0] === pair && required.has(pair.to)) add(pair, [pair.to]);
  }
  return found;
}

/** The fields of a document that its schema names; all of them where it names none. */
export function knownFields({ properties }: Model, document: MigratedFields): MigratedFields {
  const names = Object.keys(properties);
  if (names.length === 0) return document;
  return Object.fromEntries(Object.entries(document).filter(([name]) => names.includes(name)));
}

/** Whether a name has at least three letters and is a part of another one. */
function isInside(name: string, other: string): boolean {
  const [part, whole] = [plain(name), plain(other)];
  return part.length >= 3 && part !== whole && whole.includes(part);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
