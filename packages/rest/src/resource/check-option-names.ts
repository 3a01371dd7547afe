import { describeValue } from "@fetchwork/kit";
import { RestError } from "../errors.ts";
import { optionNames, refuseUnknownOptions } from "../known-options.ts";
import type { Schema } from "../schema.ts";
import type { Operation } from "./access-rules.ts";
import type { ResourceHooks } from "./hooks.ts";
import type { ListOptions } from "./list-options.ts";
import type { ListParameter } from "./list-parameter.ts";
import { standardParameters } from "./list-rules.ts";
import type { ComputedField, DerivedField } from "./presenter.ts";
import type { PopulateOptions, Relation } from "./relations/relation-options.ts";
import type { ResourceOptions } from "./resource-options.ts";
import type { ViewOptions } from "./views.ts";

const list = optionNames<ListOptions>({
  shape: true,
  count: true,
  limit: true,
  sort: true,
  names: true,
  parameters: true,
});

const resource = optionNames<ResourceOptions<Schema>>({
  name: true,
  path: true,
  schema: true,
  access: true,
  owner: true,
  showOwner: true,
  view: true,
  views: true,
  fields: true,
  hidden: true,
  search: true,
  sort: true,
  filter: true,
  groups: true,
  unique: true,
  indexes: true,
  geo: true,
  secret: true,
  readOnly: true,
  derived: true,
  computed: true,
  softDelete: true,
  changes: true,
  relations: true,
  populate: true,
  bulk: true,
  hooks: true,
  list: true,
});

/** What is an option of `list`, or what other libraries call an option. */
const otherNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    list.filter((name) => !resource.includes(name)).map((name) => [name, `list: { ${name} }`]),
  ),
  permissions: "access",
};

const operations = optionNames<Record<Operation, unknown>>({
  list: true,
  show: true,
  create: true,
  update: true,
  remove: true,
  restore: true,
});

const operationsElsewhere: Readonly<Record<string, string>> = {
  delete: "remove",
  get: "show",
  patch: "update",
  read: "show",
};

const relation = optionNames<Relation>({
  to: true,
  field: true,
  many: true,
  onDelete: true,
  inverse: true,
  limit: true,
});

const hooks = optionNames<ResourceHooks>({
  beforeList: true,
  afterList: true,
  beforeShow: true,
  afterShow: true,
  beforeCreate: true,
  afterCreate: true,
  beforeUpdate: true,
  afterUpdate: true,
  beforeRemove: true,
  afterRemove: true,
  beforeRestore: true,
  afterRestore: true,
});

const populate = optionNames<PopulateOptions>({ paths: true, depth: true });
const views = optionNames<ViewOptions>({ public: true, user: true, self: true, admin: true });
const computedField = optionNames<ComputedField>({ schema: true, value: true });
const derivedField = optionNames<DerivedField>({ from: true, value: true });
const parameter = optionNames<ListParameter>({
  schema: true,
  where: true,
  required: true,
  description: true,
});

/**
 * Refuses what is no option of a resource, at every level.
 *
 * @throws RestError `ERR_REST_DEFINITION` that names the option which was probably meant.
 */
export function checkOptionNames(options: ResourceOptions<Schema>): void {
  refuseUnknownOptions(options, { owner: "defineResource", names: resource, otherNames });
  for (const name of ["name", "path"] as const) {
    const value: unknown = options[name];
    if (typeof value === "string") continue;
    const message = `${name} of a resource is ${describeValue(value)}, expected a text`;
    throw new RestError("ERR_REST_DEFINITION", message);
  }
  const at = (owner: string, names: readonly string[], given: unknown): void =>
    refuseUnknownOptions(given, { owner: `${owner} of ${options.name}`, names });
  const owner = `access of ${options.name}`;
  refuseUnknownOptions(options.access, {
    owner,
    names: operations,
    otherNames: operationsElsewhere,
  });
  at("list", list, options.list);
  at("list.limit", ["default", "max"], options.list?.limit);
  at("list.names", standardParameters, options.list?.names);
  for (const [name, one] of Object.entries(options.list?.parameters ?? {})) {
    at(`the parameter ${name}`, parameter, one);
  }
  at("views", views, options.views);
  at("hooks", hooks, options.hooks);
  at("populate", populate, options.populate);
  if (typeof options.bulk !== "boolean") at("bulk", ["limit"], options.bulk);
  for (const [name, one] of Object.entries(options.relations ?? {})) {
    at(`the relation ${name}`, relation, one);
  }
  for (const [name, one] of Object.entries<unknown>(options.derived ?? {})) {
    at(`the derived field ${name}`, derivedField, one);
  }
  for (const [name, one] of Object.entries(options.computed ?? {})) {
    at(`the computed field ${name}`, computedField, one);
  }
}
