import { isObject } from "@fetchwork/kit";
import type { Fields, JsonSchema, Resource, Route } from "@fetchwork/rest";
import type { ShownRequest, Found } from "../finding.ts";
import { canaryOf, marksIn, propertiesOf } from "../world/canary.ts";
import { type Caller, isOwner } from "../caller.ts";
import { isWritable, ruleLets } from "../world/rules.ts";
import { type Planted, requestFor } from "../world/planted.ts";
import type { Answer } from "../world/sender.ts";
import { createdIn, undo, type Undone } from "../world/snapshot.ts";
import { scan, type Trial } from "./trial.ts";
import { attackBodies, otherThan } from "./attack-bodies.ts";
import { tryOwnAsks } from "./try-own-asks.ts";
import { writable } from "./try-writes.ts";

/** Calls each route of the project as every caller, with documents of each owner. */
export async function tryOwnRoutes(trial: Trial): Promise<void> {
  for (const route of trial.world.ownRoutes) {
    for (const caller of trial.world.callers) {
      const sent = new Set<string>();
      for (const owned of [{ owner: "ada" }, { owner: "bob" }, ...trial.world.states]) {
        await tryRoute(trial, caller, { route, ...owned }, sent);
        await tryRoute(trial, caller, { route, ...owned, other: otherThan(owned.owner) }, sent);
      }
    }
  }
}

/** A route, and whose documents it is called with. */
interface Target {
  readonly route: Route;
  readonly owner: string;
  /** Identifiers of documents that are used before those of the owner. */
  readonly ids?: ReadonlyMap<Resource, string> | undefined;
  /** Another owner: of what the last parameter of several, and the last one of a list, names. */
  readonly other?: string | undefined;
}

type Owned = Pick<Target, "ids" | "owner">;

/** What a request to a route has changed. */
interface Called extends Undone<Answer> {
  readonly route: Route;
  /** The body that the route declares. */
  readonly declared: Fields | undefined;
}

type CalledWith = Called & { readonly body: Fields };

/** @param sent - Requests of the caller, of which none is sent again. */
async function tryRoute(
  trial: Trial,
  caller: Caller,
  target: Target,
  sent: Set<string>,
): Promise<void> {
  const { route } = target;
  const { method } = route;
  const required = (route.query ?? []).filter((one) => one.required === true);
  const query = required.map(({ name, schema }) => {
    const value = idFor(trial, name, target) ?? canaryOf(schema, 1);
    return `${name}=${encodeURIComponent(String(value))}`;
  });
  const declared = bodyFor(trial, target);
  for (const path of pathsFor(trial, target)) {
    const full = query.length === 0 ? path : `${path}?${query.join("&")}`;
    const isNew = !sent.has(JSON.stringify({ method, path: full, body: declared }));
    for (const body of [declared, ...attackBodies(trial, caller, { route, declared })]) {
      const request = { method, path: full, body };
      const key = JSON.stringify(request);
      if (sent.has(key)) continue;
      sent.add(key);
      const undone = await undo(trial.world, () => trial.sender.send(caller, request));
      scan(trial, caller, undone.result, route.operation);
      await compare(trial, caller, { ...undone, route, declared });
    }
    if (isNew && target.ids === undefined) {
      await tryOwnAsks(trial, caller, { route, path, query, declared });
    }
  }
}

/** A request to a route with documents of an owner, and with the body that it declares. */
export function requestTo(trial: Trial, target: Target): ShownRequest {
  const { method, path: plain } = target.route;
  const [path = plain] = pathsFor(trial, target);
  return { method, path, body: bodyFor(trial, target) };
}

/** The path with identifiers of an owner's documents as parameters, or else of any document. */
function pathsFor(trial: Trial, target: Target): readonly string[] {
  const { other, route } = target;
  const { path, resource: about = firstResource(trial, route) } = route;
  const ids = [...trial.world.garden.of().map(({ document }) => document.id), "none"];
  const [, ...later] = path.split("/").filter((part) => part.startsWith(":"));
  const paths = ids.map((id) => {
    const parts = path.split("/").map((part, index, all) => {
      if (!part.startsWith(":")) return part;
      const owned = other && part === later.at(-1) ? { owner: other } : target;
      const name = part.slice(1);
      const of = resourceNamed(trial, all[index - 1]) ?? resourceNamed(trial, name);
      const value: unknown = Reflect.get(Object(plantedFor(trial, about, owned)?.document), name);
      // A parameter such as `:slug` stands for the value of a field.
      if (of === undefined && typeof value === "string") return encodeURIComponent(value);
      return idOf(trial, of ?? about, owned) ?? id;
    });
    return parts.join("/");
  });
  return [...new Set(paths)];
}

function bodyFor(trial: Trial, target: Target): Fields | undefined {
  const { route } = target;
  const path = route.path.replace(/:(\w+)/g, "{$1}");
  const operation = trial.world.openApi.paths[path]?.[route.method.toLowerCase()];
  const schema = resolved(trial, jsonBody(operation));
  return schema && fieldsOf(trial, schema, target);
}

/** Values for the fields of a body, or of an object inside. */
function fieldsOf(trial: Trial, schema: JsonSchema, target: Target): Fields {
  const fields = Object.entries(propertiesOf(schema)).map(([name, property], index) => {
    const inner = resolved(trial, property) ?? {};
    const made = canaryOf(inner, 800_000 + index);
    if (isObject(made)) return [name, { ...made, ...fieldsOf(trial, inner, target) }];
    if (Array.isArray(made) && isObject(inner["items"]) && isObject(made[0])) {
      return [name, [{ ...made[0], ...fieldsOf(trial, inner["items"], target) }]];
    }
    return [name, valueFor(trial, name, made, target)];
  });
  return Object.fromEntries(fields) as Fields;
}

/** Identifiers for a field that has the name of one. Another plain text may name a user. */
function valueFor(trial: Trial, name: string, made: unknown, target: Target): unknown {
  const { other, route } = target;
  const id = idFor(trial, name, target);
  if (id === undefined) return other && marksIn(String(made))[0] === made ? "root" : made;
  if (!Array.isArray(made)) return id;
  return other ? [id, idFor(trial, name, { route, owner: other })] : [id];
}

function jsonBody(operation: unknown): JsonSchema | undefined {
  const path = ["requestBody", "content", "application/json", "schema"];
  const found = path.reduce<unknown>((at, name) => Reflect.get(Object(at), name), operation);
  return isObject(found) ? found : undefined;
}

function resolved({ world }: Trial, schema: JsonSchema | undefined): JsonSchema | undefined {
  const reference = schema?.["$ref"];
  if (typeof reference !== "string") return schema;
  const schemas = world.openApi.components["schemas"];
  const found: unknown = isObject(schemas) ? schemas[reference.split("/").at(-1) ?? ""] : undefined;
  return isObject(found) ? found : undefined;
}

/** The identifier that a name stands for: `article`, `articleId`, `article_id`, or `id` alone. */
function idFor(trial: Trial, name: string, target: Target): string | undefined {
  const [first] = trial.world.service.resources;
  const isBare = name === "id" || name === "ids";
  const about = isBare ? (firstResource(trial, target.route) ?? first) : undefined;
  return idOf(trial, resourceNamed(trial, name) ?? about, target);
}

function idOf(trial: Trial, of: Resource | undefined, owned: Owned): string | undefined {
  return (of && owned.ids?.get(of)) ?? plantedFor(trial, of, owned)?.document.id;
}

function plantedFor(
  { world: { garden } }: Trial,
  of: Resource | undefined,
  { ids, owner }: Owned,
): Planted | undefined {
  if (of === undefined) return undefined;
  if (of.owner === "id") return garden.byId(owner);
  return garden.byId(ids?.get(of)) ?? garden.of(of)[owner === "ada" ? 0 : 1];
}

function firstResource(trial: Trial, { path }: Route): Resource | undefined {
  return resourceNamed(trial, path.split("/")[1]);
}

/** The resource that a name stands for: `article`, `articleId`, `article_id`, `articles`. */
export function resourceNamed({ world }: Trial, name = ""): Resource | undefined {
  const names = [name, name.replace(/_?ids?$/i, "")];
  return world.service.resources.find(
    (one) => names.includes(one.name) || names.includes(one.plural),
  );
}

/**
 * Reports documents that a route created, changed or removed against the rules. It also reports
 * fields of the body that the caller must not set.
 */
async function compare(trial: Trial, caller: Caller, called: Called): Promise<void> {
  const { after, before, result: answer, route } = called;
  const { body } = answer.request;
  for (const [key, place] of after) {
    const { document } = place;
    const old = before.get(key);
    if (old?.document.version === document.version) continue;
    if (isObject(body) && !setsAll(caller)) {
      const fields = old
        ? takenFields(caller, { ...called, body }, { place, old })
        : await takenOwner(trial, caller, { ...called, body }, place);
      for (const field of fields) add(place, field);
    }
    const operation = old ? "update" : "create";
    if (!(await isAllowed(trial, caller, operation, old ?? place))) add(place);
  }
  for (const [key, place] of before) {
    if (after.has(key)) continue;
    if (!(await isAllowed(trial, caller, "remove", place))) add(place);
  }

  function add(place: Pick<Found, "document" | "resource">, field?: string): void {
    const code = field === undefined ? "document-written" : "field-written";
    trial.findings.report(code, caller, { ...place, field, way: route.operation, answer });
  }
}

/** Whether a caller sets the owner and each field by right. */
function setsAll({ viewer }: Caller): boolean {
  return viewer.isMaster === true || viewer.user?.role === "admin";
}

/**
 * The owner of a new document, if the body names it instead of the caller. By another name than that
 * of the field it does if the caller owns what is created without it. Where the caller may create
 * such documents for itself, it also does if the caller is named.
 */
async function takenOwner(
  trial: Trial,
  caller: Caller,
  { body, result: { request } }: CalledWith,
  { document, resource }: Planted,
): Promise<readonly string[]> {
  const { owner } = resource;
  const id = caller.viewer.user?.id;
  if (owner === undefined || owner === "id") return [];
  const named: unknown = Reflect.get(document, owner);
  if (named === id) return [];
  for (const name of Object.keys(body).filter((one) => body[one] === named)) {
    if (name === owner) return [owner];
    const mayCreate = ruleLets(caller, "create", { resource }) !== false;
    for (const value of mayCreate ? [undefined, id] : [undefined]) {
      const changed = { ...request, body: { ...body, [name]: value } };
      const undone = await undo(trial.world, () => trial.sender.send(caller, changed));
      if (createdIn(undone, resource).some((one) => isOwner(caller, resource, one))) return [owner];
    }
  }
  return [];
}

/**
 * Fields that a route took from the body although the caller must not set them. A route may declare
 * such a field, but not of users.
 */
function takenFields(
  caller: Caller,
  { body, declared = {} }: CalledWith,
  { place, old }: Record<"old" | "place", Planted>,
): readonly string[] {
  const { document, resource } = place;
  return Object.keys(body).filter(
    (field) =>
      JSON.stringify(body[field]) === JSON.stringify(Reflect.get(document, field)) &&
      body[field] !== Reflect.get(old.document, field) &&
      (resource.owner === "id" || !Object.hasOwn(declared, field)) &&
      !isWritable(caller, field, old),
  );
}

/**
 * An own route may do more than the rules for users who create, owners and admins, but not for a
 * reading key. A function is asked by a request whose `If-Match` never holds, so that a change gets
 * a 412 if the caller may make it. A creation, and what handlers of one's own do, is undone.
 */
async function isAllowed(
  trial: Trial,
  by: Caller,
  operation: "create" | "remove" | "update",
  planted: Planted,
): Promise<boolean> {
  const { document, resource } = planted;
  const isCreated = operation === "create";
  const isKey = by.name === "key";
  if (isKey && !isCreated) return resource.access[operation] === "public";
  const isUser = isCreated ? by.viewer.user !== undefined : isOwner(by, resource, document);
  if (setsAll(by) || (isUser && !isKey)) return true;
  const [nobody = by] = trial.world.callers;
  const caller = isCreated ? nobody : by;
  const known = ruleLets(caller, operation, planted);
  if (known !== undefined) return known;
  const requests = {
    create: { method: "POST", path: resource.path, body: writable(trial, caller, { resource }) },
    remove: requestFor("DELETE", planted),
    update: requestFor("PATCH", planted, {}),
  };
  const request = { ...requests[operation], ifMatch: '"never"' };
  const { result } = await undo(trial.world, () => trial.sender.send(caller, request));
  return ![401, 403, 404].includes(result.status);
}
