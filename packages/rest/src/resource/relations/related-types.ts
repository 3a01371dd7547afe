/** Target of a relation, as types know it. */
export interface RelatedDocument {
  /** A document of the other resource as clients see it. */
  readonly document: unknown;
  /** Where the relations of the other resource lead. */
  readonly related: unknown;
  /** How many documents there are, and whether the other resource has the identifiers. */
  readonly shape: "inverse" | "many" | "one";
}

/** Documents that relations lead to, by the names of the relations. */
export type RelatedBy<Rels> = {
  readonly [Name in keyof Rels]: {
    readonly document: CarriedBy<Rels[Name], "shownType">;
    readonly related: CarriedBy<Rels[Name], "relatedType">;
    readonly shape: ShapeOf<Rels[Name]>;
  };
};

type ShapeOf<Relation> = Relation extends { readonly inverse: string }
  ? "inverse"
  : Relation extends { readonly many: true }
    ? "many"
    : "one";

/** Type that the other resource carries; `unknown` for one defined as a bare `Resource`. */
type CarriedBy<Relation, Carrier extends string> = Relation extends {
  readonly to: () => infer Other;
}
  ? Other extends { readonly [C in Carrier]?: infer Carried }
    ? unknown extends Carried
      ? unknown
      : Exclude<Carried, undefined>
    : unknown
  : unknown;
