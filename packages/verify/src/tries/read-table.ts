/** Which kind of caller reads which fields: names by kind, by resource. */
export type Reads = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** Collects which callers read which fields. */
export class ReadTable {
  readonly #seen = new Map<string, Map<string, Set<string>>>();

  add(resource: string, kind: string, field: string): void {
    const kinds = this.#seen.get(resource) ?? new Map<string, Set<string>>();
    const fields = kinds.get(kind) ?? new Set<string>();
    this.#seen.set(resource, kinds.set(kind, fields.add(field)));
  }

  table(): Reads {
    return sorted(this.#seen, (kinds) => sorted(kinds, (fields) => [...fields].toSorted()));
  }
}

function sorted<From, To>(
  map: ReadonlyMap<string, From>,
  convert: (value: From) => To,
): Record<string, To> {
  const entries = [...map].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, value]) => [key, convert(value)]));
}
