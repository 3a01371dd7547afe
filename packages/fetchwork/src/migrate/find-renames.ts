import { Affected, type Break } from "./migration-plan.ts";
import { issuesOf } from "./find-faults.ts";
import type { Model } from "./model.ts";

const maxPairs = 500;
/** Values of a field that are tried in another one. */
const maxTries = 100;

interface Pair {
  readonly from: string;
  readonly to: string;
  readonly of: Affected;
  tries: number;
  fits: number;
}

/** Finds fields without a model whose values belong into fields that the documents lack. */
export class RenameFinder {
  readonly #model: Model;
  readonly #pairs = new Map<string, Pair>();

  constructor(model: Model) {
    this.#model = model;
  }

  /** Looks at a document. */
  async look(id: string, document: Readonly<Record<string, unknown>>): Promise<void> {
    const { others, properties, schema } = this.#model;
    const names = Object.keys(properties);
    const unknown = Object.keys(document).filter(
      (name) => !Object.hasOwn(properties, name) && !others.has(name),
    );
    if (unknown.length === 0) return;
    const absent = names.filter((name) => !Object.hasOwn(document, name));
    for (const from of unknown) {
      for (const to of absent) {
        const key = JSON.stringify([from, to]);
        const pair = this.#pairs.get(key) ?? { from, to, of: new Affected(), tries: 0, fits: 0 };
        pair.of.add(id);
        if (pair.tries < maxTries) {
          pair.tries += 1;
          const tried = { ...knownFields(this.#model, document), [to]: document[from] };
          const issues = await issuesOf(schema, tried);
          if (!issues.some(({ path }) => path[0] === to)) pair.fits += 1;
        }
        if (this.#pairs.size < maxPairs) this.#pairs.set(key, pair);
      }
    }
  }

  /**
   * What was found: a field split into required ones whose names contain its name; one with a name that is close; and,
   * for a required field, the only one whose values fit.
   */
  get breaks(): readonly Break[] {
    const collection = this.#model.collection.name;
    const found: Break[] = [];
    const used = new Set<string>();
    const isFree = ({ from, to }: Pair): boolean => !used.has(from) && !used.has(to);
    const pairs = [...this.#pairs.values()];
    for (const from of new Set(pairs.map((pair) => pair.from))) {
      const parts = pairs.filter(
        (pair) => pair.from === from && this.#isRequired(pair) && isInside(pair),
      );
      const [first] = parts;
      if (first === undefined || parts.length < 2) continue;
      const to = parts.map((pair) => pair.to);
      for (const name of [from, ...to]) used.add(name);
      const expected = `"${from}" split into ${to.map((name) => `"${name}"`).join(" and ")}`;
      found.push({
        kind: "split",
        collection,
        field: to.join(", "),
        from,
        to,
        expected,
        ...first.of.result,
      });
    }
    const fitting = pairs.filter((pair) => pair.fits === pair.tries && isFree(pair));
    const close = fitting.filter(({ from, to }) => distance(from, to) <= 1 / 2);
    const only = fitting.filter(
      (pair) => this.#isRequired(pair) && fitting.filter(({ to }) => to === pair.to).length === 1,
    );
    const byName = close.toSorted((a, b) => distance(a.from, a.to) - distance(b.from, b.to));
    for (const pair of [...byName, ...only]) {
      if (!isFree(pair)) continue;
      const { from, of, to } = pair;
      used.add(from).add(to);
      const expected = `"${from}" renamed to "${to}"`;
      found.push({ kind: "rename", collection, field: to, from, expected, ...of.result });
    }
    return found;
  }

  #isRequired({ to }: Pair): boolean {
    return this.#model.required.has(to);
  }
}

/** The fields of a document that its schema names; all of them where it names none. */
export function knownFields(
  { properties }: Model,
  document: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const names = Object.keys(properties);
  if (names.length === 0) return document;
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(document, name)).map((name) => [name, document[name]]),
  );
}

function isInside({ from, to }: Pair): boolean {
  return plain(to) !== plain(from) && plain(to).includes(plain(from));
}

/** How far two names are from each other: 0 for the same letters, 1 for nothing in common. */
function distance(one: string, other: string): number {
  const [a, b] = [plain(one), plain(other)];
  const longest = Math.max(a.length, b.length, 1);
  if (Math.min(a.length, b.length) >= 3 && (a.includes(b) || b.includes(a))) return 0.1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, letter] of a.split("").entries()) {
    const next = [index + 1];
    for (const [at, other] of b.split("").entries()) {
      const changed = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return (row[b.length] ?? longest) / longest;
}

function plain(name: string): string {
  return name
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}
