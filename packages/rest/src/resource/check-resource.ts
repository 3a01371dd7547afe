import { accessTokenField } from "../access-token.ts";
import { check } from "../errors.ts";
import type { Schema } from "../schema.ts";
import type { ListOptions } from "./list-options.ts";
import { populateName, standardParameters } from "./list-rules.ts";
import type { ComputedField, DerivedField } from "./presenter.ts";
import type { ResourceOptions } from "./resource-options.ts";

/** Options of a resource, with facts that follow from its schema. */
export interface ResourceParts {
  readonly options: ResourceOptions<Schema>;
  /** Names of the fields of the schema. */
  readonly fields: readonly string[];
  /** Names of the fields without which the schema refuses a document. */
  readonly required: readonly string[];
  /** Names of the fields that somebody sees. */
  readonly view: readonly string[];
  /** Names of the fields that nobody sees. */
  readonly secret: ReadonlySet<string>;
  /** Names of the fields that nobody sets. */
  readonly readOnly: ReadonlySet<string>;
  readonly computed: Readonly<Record<string, ComputedField>>;
  readonly derived: Readonly<Record<string, DerivedField>>;
  readonly collectionName: string;
  readonly meta: readonly string[];
}

/**
 * Checks that the parts of a definition fit together.
 *
 * @throws RestError `ERR_REST_DEFINITION`
 */
export function checkResource(parts: ResourceParts): void {
  checkNames(parts);
  checkFields(parts);
  checkOwner(parts);
  checkDerived(parts);
  checkGuarded(parts);
  checkList(parts);
}

function checkNames({ options: { name, path }, collectionName }: ResourceParts): void {
  const last = path.split("/").at(-1) ?? "";
  check(/^[a-z][A-Za-z0-9]*$/.test(name), `the name ${name} of a resource must be in camel case`);
  check(
    /^(?:\/[a-z][a-z0-9-]*)+$/.test(path) && last.length <= 40 && collectionName.length <= 48,
    `the path ${path} must be like /articles, its last part at most 40 characters long and all at most 48`,
  );
}

function checkFields({ options, fields, computed, meta }: ResourceParts): void {
  const {
    geo,
    name,
    owner,
    search = [],
    sort = [],
    unique = [],
    indexes = [],
    softDelete,
  } = options;
  const own = [...search, ...sort, ...(geo === undefined ? [] : [geo])];
  for (const field of own) check(fields.includes(field), `${name} has no field ${field}`);
  for (const field of indexes.flat()) {
    const known = [...fields, ...meta, owner].includes(field.split(".")[0] ?? "");
    check(known, `${name} has no field ${field} for an index`);
  }
  for (const field of unique.flat()) {
    const known = owner === "id" ? fields : [...fields, owner];
    check(known.includes(field), `${name} has no field ${field} to be unique`);
  }
  const hasOwner = owner !== undefined && owner !== "id";
  const all = [...fields, ...Object.keys(computed), ...(hasOwner ? [owner] : [])];
  for (const field of all) {
    const isReserved = meta.includes(field) || ["version", accessTokenField].includes(field);
    check(!isReserved, `${field} is a reserved name and cannot be a field of ${name}`);
  }
  check(
    softDelete !== true || !all.includes("deletedAt"),
    `deletedAt is a reserved name in ${name}`,
  );
  const twice = all.find((field, index) => all.indexOf(field) !== index);
  check(twice === undefined, `${name} has two fields ${twice ?? ""}`);
}

function checkOwner({ options: { access, name, owner } }: ResourceParts): void {
  const { list = "admin", show = "admin", create = "admin" } = access;
  const owned = Object.values(access).includes("owner");
  check(!owned || owner !== undefined, `${name} has the rule owner, but no owner field`);
  const anonymous = create === "public" || create === "master";
  check(
    owner === undefined || owner === "id" || !anonymous,
    `${name} has an owner, but anonymous creators`,
  );
  check(create !== "owner", `create of ${name} has no owner yet`);
  const showsOthers = list === "public" || list === "user";
  check(show !== "owner" || !showsOthers, `${name} is shown to owners, but listed to others`);
}

/** Documents must be able to lack such a field, and somebody must see where its value is from. */
function checkDerived({ options: { name }, derived, fields, required, view }: ResourceParts): void {
  for (const [field, { from }] of Object.entries(derived)) {
    check(fields.includes(field), `${name} has no field ${field}`);
    check(!required.includes(field), `the derived field ${field} of ${name} must be optional`);
    check(view.includes(field), `the derived field ${field} of ${name} is not shown`);
    const isSeen = fields.includes(from) && view.includes(from) && !Object.hasOwn(derived, from);
    check(
      isSeen,
      `${field} of ${name} is derived from ${from}, expected another field that is shown`,
    );
  }
}

/** Each place in which a field that nobody sees would tell something of its values is refused. */
function checkGuarded({ options, required, readOnly, secret }: ResourceParts): void {
  const { name, owner, geo, search = [], sort = [], filter = [], groups = [] } = options;
  const unique = options.unique?.flat() ?? [];
  const telling = [
    ...search,
    ...sort,
    ...[...filter, ...groups].map((path) => path.split(".")[0] ?? ""),
    ...(geo === undefined ? [] : [geo]),
  ];
  for (const field of secret) {
    // Conflicts tell the callers who set a unique field about the values of others.
    const isUnique = field !== owner && !readOnly.has(field) && unique.includes(field);
    check(
      !telling.includes(field) && !isUnique,
      `nobody sees ${field} of ${name}, so that nothing may tell of it`,
    );
  }
  for (const field of readOnly) {
    const message = `nobody sets ${field} of ${name}, so it must be optional or have a default`;
    check(!required.includes(field), message);
  }
}

function checkList({ options, meta, view }: ResourceParts): void {
  const { name, filter = [], list = {}, sort = [] } = options;
  const { count = "bounded", limit = {}, parameters = {}, sort: order = [] } = list;
  const { default: fallback = 30, max = 100 } = limit;
  const { shape = "array" } = list;
  check(
    ["array", "rows"].includes(shape),
    `the shape of the list of ${name} must be "array" or "rows"`,
  );
  const isWhole = Number.isSafeInteger(fallback) && Number.isSafeInteger(max);
  check(
    isWhole && fallback >= 1 && fallback <= max && max <= 1000,
    `the limits of the list of ${name} must be whole numbers from 1 to 1000, the default at most the maximum`,
  );
  check(
    isCount(count),
    `the count of the list of ${name} must be "bounded", "exact", "none" or a whole number from 1`,
  );
  for (const key of order) {
    const field = key.replace(/^-/, "");
    const isTime = meta.includes(field) && (field === "id" || view.includes(field));
    check(sort.includes(field) || isTime, `${name} cannot be sorted by ${field}`);
  }
  const reserved = options.relations ? [accessTokenField, populateName] : [accessTokenField];
  const taken = [...standardParameters, ...filter, ...Object.keys(parameters), ...reserved];
  const twice = taken.find((one, index) => taken.indexOf(one) !== index);
  check(twice === undefined, `two parameters of the list of ${name} are called ${twice ?? ""}`);
  for (const one of Object.keys(parameters)) {
    check(/^[A-Za-z][\w.-]{0,63}$/.test(one), `${one} cannot be the name of a parameter`);
  }
}

function isCount(count: NonNullable<ListOptions["count"]>): boolean {
  if (typeof count === "number") return Number.isSafeInteger(count) && count >= 1;
  return ["bounded", "exact", "none"].includes(count);
}
