import { isObject } from "@fetchwork/kit";
import { check } from "../../errors.ts";
import { acceptsNull, type JsonSchema } from "../../schema.ts";
import type { CompiledRelations, Inverse, Reference } from "../resource.ts";
import type { PopulateOptions, Relation, Relations } from "./relation-options.ts";

/** Parts of a resource that its relations have to fit. */
export interface RelationPlace {
  readonly name: string;
  readonly owner: string | undefined;
  readonly secret: ReadonlySet<string>;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  /** Names of the fields without which the schema refuses a document. */
  readonly required: readonly string[];
  /** Names that are taken in addition to those of fields. */
  readonly taken: readonly string[];
}

/**
 * Checks the relations of a resource.
 *
 * @throws RestError `ERR_REST_DEFINITION`
 */
export function compileRelations(
  relations: Relations = {},
  populate: PopulateOptions | undefined,
  place: RelationPlace,
): CompiledRelations {
  const references: Reference[] = [];
  const inverses: Inverse[] = [];
  for (const [name, relation] of Object.entries(relations)) {
    check(/^[a-zA-Z]\w{0,63}$/.test(name), `${name} cannot be the name of a relation`);
    check(typeof relation.to === "function", `the relation ${name} needs a function as "to"`);
    if (relation.inverse === undefined) references.push(compileReference(name, relation, place));
    else inverses.push(compileInverse(name, relation, place));
  }
  const shown = references.filter(({ field }) => !place.secret.has(field)); // It may be the owner.
  const known = [...shown, ...inverses].map(({ name }) => name);
  return { references, inverses, paths: populatePaths(populate ?? { paths: known }, known, place) };
}

function compileReference(name: string, relation: Relation, place: RelationPlace): Reference {
  const { field = name, many = false, onDelete = "restrict", limit, to } = relation;
  const { owner, properties, required, secret, taken } = place;
  const of = `the relation ${name} of ${place.name}`;
  const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
  check(schema !== undefined || field === owner, `${of} has no field ${field}`);
  check(field !== "id", `${of} has the field id, which refers to no other document`);
  check(!secret.has(field) || field === owner, `${of} has a field that nobody sees: ${field}`);
  const clashes = name !== field && (Object.hasOwn(properties, name) || name === owner);
  check(!clashes && !taken.includes(name), `${of} must have a name that nothing else has`);
  check(limit === undefined, `${of} has a limit, which only inverse ones have`);
  check(["cascade", "nullify", "restrict"].includes(onDelete), `${of} has no such onDelete`);
  if (schema) {
    const isFit = many ? isList(schema) : takesText(schema);
    check(isFit, `${of} needs ${many ? "a list of texts" : "a text"} as field ${field}`);
  } else check(!many, `${of} is of one owner`);
  const keepsNull = schema !== undefined && acceptsNull(schema);
  const mayGo = many || keepsNull || !required.includes(field);
  check(onDelete !== "nullify" || mayGo, `${of} cannot nullify ${field}, which is required`);
  return { name, field, many, onDelete, keepsNull, to };
}

function compileInverse(name: string, relation: Relation, place: RelationPlace): Inverse {
  const { field, inverse = "", limit = 20, many, onDelete, to } = relation;
  const { properties, owner, taken } = place;
  const of = `the relation ${name} of ${place.name}`;
  const isFree = !Object.hasOwn(properties, name) && name !== owner && !taken.includes(name);
  check(isFree, `${of} has the name of a field, and is inverse: rename it, or leave out "inverse"`);
  const isPlain = field === undefined && many === undefined && onDelete === undefined;
  check(isPlain, `${of} is inverse, so that the other one has field, many and onDelete`);
  check(
    Number.isSafeInteger(limit) && limit >= 1 && limit <= 100,
    `the limit of ${of} must be a whole number from 1 to 100`,
  );
  return { name, inverse, limit, to };
}

/** Relations in a path of `populate` at most. */
const maxDepth = 5;

function populatePaths(
  { paths }: PopulateOptions,
  known: readonly string[],
  { name }: RelationPlace,
): readonly string[] {
  const all = new Set<string>();
  for (const path of paths) {
    const parts = path.split(".");
    check(known.includes(parts[0] ?? ""), `${name} has no relation for the path ${path}`);
    const isShort = parts.length <= maxDepth;
    check(isShort, `the path ${path} of ${name} is longer than ${maxDepth} relations`);
    for (const index of parts.keys()) all.add(parts.slice(0, index + 1).join("."));
  }
  return [...all];
}

function takesText(schema: JsonSchema): boolean {
  return alternatives(schema).some(({ type }) => [type].flat().includes("string"));
}

function isList(schema: JsonSchema): boolean {
  return alternatives(schema).some(
    ({ type, items }) => type === "array" && isObject(items) && takesText(items),
  );
}

function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isObject) : [schema];
}
