import { isObject } from "@fetchwork/kit";
import type { Fields, JsonSchema, Resource, Route } from "@fetchwork/rest";
import { canaryOf } from "../world/canary.ts";
import { type Caller, isOwner } from "../world/caller.ts";
import { isWritable, ruleLets } from "../world/rules.ts";
import type { Planted } from "../world/planted.ts";
import type { Answer } from "../world/sender.ts";
import { type Found, report, scan, type Trial } from "./trial.ts";
import { attackBodies, otherThan } from "./attack-bodies.ts";
import { restore, type Snapshot, snapshot } from "./snapshot.ts";
import { tryOwnAsks } from "./try-own-asks.ts";

/** Calls each route of the project as every caller, with documents of each owner. */
export async function tryOwnRoutes(trial: Trial): Promise<void> {
  for (const route of trial.world.ownRoutes) {
    for (const caller of trial.world.callers) {
      for (const owner of ["ada", "bob"]) await tryRoute(trial, caller, { route, owner });
    }
  }
}

/** A route, and whose documents it is called with. */
export interface Target extends Owned {
  readonly route: Route;
}

interface Owned {
  readonly owner: string;
  /** Identifiers of documents that are used before those of the owner. */
  readonly ids?: ReadonlyMap<Resource, string> | undefined;
}

async function tryRoute(trial: Trial, caller: Caller, { route, owner }: Target): Promise<void> {
  const { sender } = trial;
  const { method, operation } = route;
  const required = (route.query ?? []).filter((one) => one.required === true);
  const query = required.map(({ name, schema }) => {
    const value = isId(trial, name) ? idFor(trial, name, { owner }) : canaryOf(schema, 1);
    return `${name}=${encodeURIComponent(String(value))}`;
  });
  const target = { route, owner };
  const declared = method === "GET" ? undefined : bodyFor(trial, target);
  for (const path of [...pathsFor(trial, target), ...mixedPaths(trial, target)]) {
    const full = query.length === 0 ? path : `${path}?${query.join("&")}`;
    for (const body of [declared, ...attackBodies(trial, caller, { route, declared })]) {
      const request = { method, path: full, ...(body === undefined ? {} : { body }) };
      const before = await snapshot(trial);
      const answer = await sender.send(caller, request);
      scan(trial, caller, answer, operation);
      await compare(trial, caller, { before, answer, operation, declared });
    }
    await tryOwnAsks(trial, caller, { route, path, query, declared });
  }
}

/** The path with the identifiers of an owner's documents in the place of its parameters. */
export function pathsFor(trial: Trial, { route, ...owned }: Target): readonly string[] {
  const parts = route.path.split("/");
  const resource = route.resource ?? resourceAt(trial, parts[1]);
  const names = parts.filter((part) => part.startsWith(":"));
  if (names.length === 0) return [route.path];
  const known = (part: string, index: number): string | undefined =>
    idOf(trial, resourceAt(trial, parts[index - 1]), owned) ??
    idOf(trial, resourceNamed(trial, part.slice(1)), owned) ??
    idOf(trial, resource, owned);
  const fill = (id?: string): string =>
    parts
      .map((part, index) => (part.startsWith(":") ? (known(part, index) ?? id ?? "none") : part))
      .join("/");
  const isKnown = parts.every((part, index) => !part.startsWith(":") || known(part, index));
  if (isKnown) return [fill(), ...byOtherField(trial, { route, ...owned }, parts)];
  return trial.world.garden.of().map(({ document }) => fill(document.id));
}

/** Paths with several parameters whose last one stands for a document of somebody else than the others. */
function mixedPaths(trial: Trial, { route, owner }: Target): readonly string[] {
  const parts = route.path.split("/");
  const places = parts.flatMap((part, index) => (part.startsWith(":") ? [index] : []));
  const last = places.at(-1);
  if (places.length < 2) return [];
  const filled = parts.map((part, index) => {
    if (!part.startsWith(":")) return part;
    const resource = resourceAt(trial, parts[index - 1]) ?? resourceNamed(trial, part.slice(1));
    return idOf(trial, resource, { owner: index === last ? otherThan(owner) : owner }) ?? "none";
  });
  return [filled.join("/")];
}

/** A parameter such as `:slug` stands for the value of a field. */
function byOtherField(
  trial: Trial,
  { owner }: Target,
  parts: readonly string[],
): readonly string[] {
  const planted = plantedFor(trial, resourceAt(trial, parts[1]), owner);
  const field = parts.find((part) => part.startsWith(":") && part !== ":id")?.slice(1);
  const value: unknown = field && planted && Reflect.get(planted.document, field);
  if (typeof value !== "string") return [];
  return [parts.map((part) => (part === `:${field}` ? encodeURIComponent(value) : part)).join("/")];
}

export function bodyFor(trial: Trial, { route, ...owned }: Target): Fields | undefined {
  const path = route.path.replace(/:(\w+)/g, "{$1}");
  const operation = trial.world.openApi.paths[path]?.[route.method.toLowerCase()];
  const schema = resolved(trial, jsonBody(operation));
  if (schema === undefined) return undefined;
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  const fields = properties.map(([name, property], index) => {
    const id = isId(trial, name) ? idFor(trial, name, owned) : undefined;
    return [name, id ?? canaryOf(resolved(trial, property) ?? {}, 800_000 + index)] as const;
  });
  return Object.fromEntries(fields);
}

function jsonBody(operation: unknown): JsonSchema | undefined {
  const path = ["requestBody", "content", "application/json", "schema"];
  const found = path.reduce<unknown>(
    (at, name) => (isObject(at) ? at[name] : undefined),
    operation,
  );
  return isObject(found) ? found : undefined;
}

function resolved({ world }: Trial, schema: JsonSchema | undefined): JsonSchema | undefined {
  const reference = schema?.["$ref"];
  if (typeof reference !== "string") return schema;
  const schemas = world.openApi.components["schemas"];
  const found: unknown = isObject(schemas) ? schemas[reference.split("/").at(-1) ?? ""] : undefined;
  return isObject(found) ? found : undefined;
}

/** Whether a name is that of a resource, or of its identifier: `article`, `articleId`, `article_id`, `id`. */
function isId(trial: Trial, name: string): boolean {
  return name === "id" || resourceNamed(trial, name) !== undefined;
}

function idFor(trial: Trial, name: string, owned: Owned): string | undefined {
  const resource = resourceNamed(trial, name) ?? trial.world.service.resources[0];
  return idOf(trial, resource, owned);
}

function idOf(
  trial: Trial,
  resource: Resource | undefined,
  { ids, owner }: Owned,
): string | undefined {
  return (resource && ids?.get(resource)) ?? plantedFor(trial, resource, owner)?.document.id;
}

function plantedFor(
  { world }: Trial,
  resource: Resource | undefined,
  owner: string,
): Planted | undefined {
  if (resource === undefined) return undefined;
  if (resource.owner === "id") return world.garden.byId(owner);
  return world.garden.of(resource)[owner === "ada" ? 0 : 1];
}

function resourceAt({ world }: Trial, part: string | undefined): Resource | undefined {
  return world.service.resources.find(({ plural }) => plural === part);
}

/** The resource that a name stands for: `article`, `articleId`, `article_id`, `articles`. */
export function resourceNamed({ world }: Trial, name: string): Resource | undefined {
  const bare = name.replace(/_?id$/i, "");
  return world.service.resources.find((one) => one.name === bare || one.plural === bare);
}

/**
 * Reports documents of others that a route changed or removed, any that nobody without a token creates, changes or removes
 * where no rule lets the caller do it, and fields that are taken from the body although the caller does not set them.
 * Puts everything back.
 */
async function compare(
  trial: Trial,
  caller: Caller,
  {
    before,
    answer,
    operation,
    declared,
  }: {
    readonly before: Snapshot;
    readonly answer: Answer;
    readonly operation: string;
    readonly declared: Fields | undefined;
  },
): Promise<void> {
  const after = await snapshot(trial);
  for (const [key, place] of after) {
    const { document, resource } = place;
    const old = before.get(key);
    if (old?.document.version === document.version) continue;
    for (const field of takenFields(caller, { place, old, answer, declared })) add(place, field);
    const isOpen = old
      ? isAllowed(caller, "update", old)
      : !["anonymous", "key"].includes(caller.name) ||
        ruleLets(caller, "create", { resource }) !== false;
    if (!isOpen) add(place);
  }
  for (const [key, place] of before) {
    if (!after.has(key) && !isAllowed(caller, "remove", place)) add(place);
  }
  await restore(trial, before, after);

  function add(place: Pick<Found, "document" | "resource">, field?: string): void {
    const what = field === undefined ? {} : { field };
    const code = field === undefined ? "document-written" : "field-written";
    report(trial, code, caller, { ...place, ...what, way: operation, answer });
  }
}

/**
 * Fields that a route has taken from the body by their name, although the caller does not set them. A route that declares
 * such a field means it, but not that somebody sets it of users, or creates documents of others.
 */
function takenFields(
  caller: Caller,
  {
    place,
    old,
    answer,
    declared = {},
  }: {
    readonly place: Planted;
    readonly old: Planted | undefined;
    readonly answer: Answer;
    readonly declared: Fields | undefined;
  },
): readonly string[] {
  const { document, resource } = place;
  const { body } = answer.request;
  const { isMaster = false, user } = caller.viewer;
  if (!isObject(body) || isMaster || user?.role === "admin") return [];
  const isSent = (field: string): boolean =>
    JSON.stringify(body[field]) === JSON.stringify(Reflect.get(document, field));
  if (old === undefined) {
    const { owner } = resource;
    return owner !== undefined && owner !== "id" && isSent(owner) && body[owner] !== user?.id
      ? [owner]
      : [];
  }
  return Object.keys(body).filter(
    (field) =>
      isSent(field) &&
      body[field] !== Reflect.get(old.document, field) &&
      (resource.owner === "id" || !Object.hasOwn(declared, field)) &&
      !isWritable(caller, field, old),
  );
}

/**
 * A route of one's own may do more than the rules with documents of its caller, and for admins; with a key that may only
 * read, it may not.
 */
function isAllowed(caller: Caller, operation: "remove" | "update", planted: Planted): boolean {
  const { isMaster = false, user } = caller.viewer;
  if (caller.name === "key") return planted.resource.access[operation] === "public";
  if (isMaster || user?.role === "admin") return true;
  if (isOwner(caller, planted.resource, planted.document)) return true;
  return ruleLets(caller, operation, planted) !== false;
}
