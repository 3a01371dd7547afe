import type { RelatedDocument } from "../resource/relations/related-types.ts";

/**
 * A document with others in the place of identifiers, or under names of relations: those that begin
 * the paths, and no other field. If the type of a relation is known, they have that of its
 * documents, and so on along a path.
 *
 * An identifier stays where the caller may not see its document, and `null` stands for one that is
 * missing; documents of an inverse relation are left out where the caller may not list them. With
 * paths that are known only when it runs, any text may have given way to a document.
 */
export type Populated<D, Path extends string = string, Related = unknown> = {
  readonly [K in keyof D]: K extends RelationIn<Path>
    ? string extends Path
      ? Replaced<D[K], string>
      : Filled<D[K], Replaced<D[K], never>, RelationOf<Related, K>, PathAfter<Path, K>>
    : D[K];
} & {
  readonly [K in Exclude<RelationIn<Path>, keyof D>]: string extends Path
    ? unknown
    : Filled<string | undefined, unknown, RelationOf<Related, K>, PathAfter<Path, K>>;
};

/** Nothing, or what `populate` of a query must be for its paths to begin with relations. */
export type CheckedPopulate<Query, Related> = [Related] extends [object]
  ? Query extends { readonly populate: infer Paths }
    ? string extends PathsIn<Paths>
      ? unknown
      : RelationIn<PathsIn<Paths> & string> extends keyof Related
        ? unknown
        : { readonly populate: keyof Related }
    : unknown
  : unknown;

type PathsIn<Paths> = Paths extends readonly (infer Path)[] ? Path : Paths;

/** Names of the relations with which paths begin. */
type RelationIn<Path extends string> = Path extends `${infer First},${infer Rest}`
  ? RelationIn<First> | RelationIn<Rest>
  : Path extends ` ${infer Rest}` | `${infer Rest} `
    ? RelationIn<Rest>
    : Path extends `${infer First}.${string}`
      ? First
      : Path;

/** Rest of paths after the relation with which the paths begin. */
type PathAfter<Path extends string, First> = Path extends `${infer One},${infer Others}`
  ? PathAfter<One, First> | PathAfter<Others, First>
  : Path extends ` ${infer Rest}` | `${infer Rest} `
    ? PathAfter<Rest, First>
    : Path extends `${infer Begin}.${infer Rest}`
      ? Begin extends First
        ? Rest
        : never
      : never;

type RelationOf<Related, Name> = Name extends keyof Related ? Related[Name] : unknown;

/** The documents of a relation whose type is known; else `Unknown`. */
type Filled<Value, Unknown, Relation, Path extends string> = Relation extends RelatedDocument
  ? unknown extends Relation["document"]
    ? Unknown
    : Shaped<
        Value,
        [Path] extends [never]
          ? Relation["document"]
          : Populated<Relation["document"], Path, Relation["related"]>,
        Relation["shape"]
      >
  : Unknown;

type Shaped<Value, Document, Shape extends RelatedDocument["shape"]> = {
  readonly inverse: readonly Document[] | undefined;
  readonly many: readonly (Document | string | null)[] | Extract<Value, null | undefined>;
  readonly one: Document | Value | null;
}[Shape];

/** Documents in place of identifiers, which `Least` is assignable to; `null` for missing ones. */
type Replaced<Value, Wanted> = Value extends readonly (infer Member)[]
  ? readonly Replaced<Member, Wanted>[]
  : Value extends string
    ? [Wanted] extends [Value]
      ? Value | Readonly<Record<string, unknown>> | null
      : Value
    : Value;
