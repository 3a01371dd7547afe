import { describeValue } from "@fetchwork/kit";
import { checkDefinition } from "../check-options.ts";
import { check } from "../errors.ts";
import type { Schema } from "../schema.ts";
import type { DerivedField } from "./presenter.ts";
import type { ResourceOptions } from "./resource-options.ts";

/**
 * Refuses unknown options of a resource, at every level.
 *
 * @throws RestError `ERR_REST_DEFINITION` that names the option which was probably meant.
 */
export function checkOptionNames(options: ResourceOptions<Schema>): void {
  checkDefinition("defineResource", options, [
    "name",
    "path",
    "schema",
    "access",
    "owner",
    "fields",
    "search",
    "sort",
    "filter",
    "groups",
    "unique",
    "indexes",
    "geo",
    "derived",
    "computed",
    "softDelete",
    "changes",
    "relations",
    "populate",
    "bulk",
    "hooks",
    "list",
  ]);
  for (const name of ["name", "path"] as const) {
    const value: unknown = options[name];
    check(
      typeof value === "string",
      `${name} of a resource must be a text, got ${describeValue(value)}`,
    );
  }
  const { name, access, bulk, hooks, list, populate } = options;
  const operations = ["list", "show", "create", "update", "remove", "restore"] as const;
  checkDefinition(`access of ${name}`, access, operations);
  checkDefinition(`list of ${name}`, list, [
    "shape",
    "count",
    "limit",
    "sort",
    "pages",
    "parameters",
  ]);
  checkDefinition(`list.limit of ${name}`, list?.limit, ["default", "max"]);
  for (const [key, one] of Object.entries(list?.parameters ?? {})) {
    const owner = `the parameter ${key} of ${name}`;
    checkDefinition(owner, one, ["schema", "where", "required", "description"]);
  }
  checkDefinition(`hooks of ${name}`, hooks, [
    "beforeList",
    "afterList",
    "beforeShow",
    "afterShow",
    "beforeCreate",
    "afterCreate",
    "beforeUpdate",
    "afterUpdate",
    "beforeRemove",
    "afterRemove",
    "beforeRestore",
    "afterRestore",
  ]);
  checkDefinition(`populate of ${name}`, populate, ["paths"]);
  if (typeof bulk !== "boolean") checkDefinition(`bulk of ${name}`, bulk, ["limit"]);
  for (const [key, one] of Object.entries(options.relations ?? {})) {
    const owner = `the relation ${key} of ${name}`;
    checkDefinition(owner, one, ["to", "field", "many", "onDelete", "inverse", "limit"]);
  }
  for (const [key, one] of Object.entries<DerivedField>(options.derived ?? {})) {
    checkDefinition(`the derived field ${key} of ${name}`, one, ["from", "value"]);
  }
  for (const [key, one] of Object.entries(options.computed ?? {})) {
    checkDefinition(`the computed field ${key} of ${name}`, one, ["schema", "value"]);
  }
}
