import { isObject } from "@fetchwork/kit";
import type { Fields, JsonSchema, Resource, Route } from "@fetchwork/rest";
import type { ShownRequest, Found } from "../finding.ts";
import { canaryOf, isPlain, propertiesOf } from "../world/canary.ts";
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
  /** Somebody else, whom the body names, and of whose documents lists have one, too. */
  readonly other?: string | undefined;
}

type Owned = Omit<Target, "route">;

/** What a request to a route has changed. */
interface Called extends Undone<Answer> {
  readonly route: Route;
  /** The body that the route declares. */
  readonly declared: Fields | undefined;
}

/** @param sent - Requests of the caller, of which none is sent again. */
async function tryRoute(
  trial: Trial,
  caller: Caller,
  target: Target,
  sent: Set<string>,
): Promise<void> {
  const { route, ...owned } = target;
  const { method } = route;
  const required = (route.query ?? []).filter((one) => one.required === true);
  const query = required.map(({ name, schema }) => {
    const value = idFor(trial, name, target) ?? canaryOf(schema, 1);
    return `${name}=${encodeURIComponent(String(value))}`;
  });
  const declared = bodyFor(trial, target);
  const naming = bodyFor(trial, { ...target, other: otherThan(owned.owner) });
  for (const path of [...pathsFor(trial, target), ...mixedPaths(trial, target)]) {
    const full = query.length === 0 ? path : `${path}?${query.join("&")}`;
    const isNew = !sent.has(JSON.stringify({ method, path: full, body: declared }));
    for (const body of [declared, naming, ...attackBodies(trial, caller, { route, declared })]) {
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
function pathsFor(trial: Trial, { route, ...owned }: Target): readonly string[] {
  const { path, resource: about = firstResource(trial, route) } = route;
  const ids = [...trial.world.garden.of().map(({ document }) => document.id), "none"];
  const paths = ids.map((id) =>
    filled(trial, path, (_, of) => idOf(trial, of, owned) ?? idOf(trial, about, owned) ?? id),
  );
  return [...new Set([...paths, ...byOtherField(trial, { route, ...owned })])];
}

/** A path with several parameters, of which the last one is of another owner. */
function mixedPaths(trial: Trial, { route: { path }, owner }: Target): readonly string[] {
  const names = parametersOf(path);
  if (names.length < 2) return [];
  const mixed = filled(trial, path, (name, of) => {
    const other = name === names.at(-1) ? otherThan(owner) : owner;
    return idOf(trial, of, { owner: other }) ?? "none";
  });
  return [mixed];
}

/** A parameter such as `:slug` stands for the value of a field. */
function byOtherField(trial: Trial, { route, ids, owner }: Target): readonly string[] {
  const resource = firstResource(trial, route);
  const planted =
    trial.world.garden.byId(resource && ids?.get(resource)) ?? plantedFor(trial, resource, owner);
  const field = parametersOf(route.path).find((name) => name !== "id");
  const value: unknown = field && planted && Reflect.get(planted.document, field);
  if (typeof value !== "string") return [];
  return [filled(trial, route.path, (name) => encodeURIComponent(name === field ? value : "none"))];
}

function parametersOf(path: string): readonly string[] {
  return path.split("/").flatMap((part) => (part.startsWith(":") ? [part.slice(1)] : []));
}

/** A path with values. What is before a parameter, or its name, says which resource it is of. */
function filled(
  trial: Trial,
  path: string,
  valueOf: (name: string, of: Resource | undefined) => string,
): string {
  const parts = path.split("/").map((part, index, all) => {
    if (!part.startsWith(":")) return part;
    const name = part.slice(1);
    return valueOf(name, resourceAt(trial, all[index - 1]) ?? resourceNamed(trial, name));
  });
  return parts.join("/");
}

function bodyFor(trial: Trial, { route, ...owned }: Target): Fields | undefined {
  const path = route.path.replace(/:(\w+)/g, "{$1}");
  const operation = trial.world.openApi.paths[path]?.[route.method.toLowerCase()];
  const schema = resolved(trial, jsonBody(operation));
  return schema && fieldsOf(trial, schema, { route, ...owned });
}

/** Values for the fields of a body, or of an object inside. */
function fieldsOf(trial: Trial, schema: JsonSchema, target: Target): Fields {
  const fields = Object.entries(propertiesOf(schema)).map(([name, property], index) => {
    const made = canaryOf(resolved(trial, property) ?? {}, 800_000 + index);
    return [name, valueFor(trial, { name, made, property }, target)] as const;
  });
  return Object.fromEntries(fields);
}

/** An identifier for a field that has the name of one, or else what was made by its schema. */
function valueFor(
  trial: Trial,
  { name, made, property }: { name: string; made: unknown; property: JsonSchema },
  target: Target,
): unknown {
  const { other } = target;
  const schema = resolved(trial, property) ?? {};
  if (isObject(made)) return { ...made, ...fieldsOf(trial, schema, target) };
  if (Array.isArray(made) && isObject(made[0])) {
    const items = schema["items"] as JsonSchema;
    return made.map((one) => valueFor(trial, { name, made: one, property: items }, target));
  }
  const id = idFor(trial, name, target);
  if (id === undefined) return other !== undefined && isPlain(made) ? "root" : made;
  if (!Array.isArray(made)) return id;
  return other === undefined ? [id] : [id, idFor(trial, name, { ...target, owner: other })];
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
function idFor(trial: Trial, name: string, { route, ...owned }: Target): string | undefined {
  const [first] = trial.world.service.resources;
  const about = ["id", "ids"].includes(name) ? (firstResource(trial, route) ?? first) : undefined;
  return idOf(trial, resourceNamed(trial, name) ?? about, owned);
}

function idOf(trial: Trial, of: Resource | undefined, { ids, owner }: Owned): string | undefined {
  return (of && ids?.get(of)) ?? plantedFor(trial, of, owner)?.document.id;
}

function plantedFor(trial: Trial, of: Resource | undefined, owner: string): Planted | undefined {
  const { garden } = trial.world;
  if (of === undefined) return undefined;
  if (of.owner === "id") return garden.byId(owner);
  return garden.of(of)[owner === "ada" ? 0 : 1];
}

function firstResource(trial: Trial, { path }: Route): Resource | undefined {
  return resourceAt(trial, path.split("/")[1]);
}

function resourceAt({ world }: Trial, part: string | undefined): Resource | undefined {
  return world.service.resources.find(({ plural }) => plural === part);
}

/** The resource that a name stands for: `article`, `articleId`, `article_id`, `articles`. */
export function resourceNamed({ world }: Trial, name: string): Resource | undefined {
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
  const [nobody = caller] = trial.world.callers;
  for (const [key, place] of after) {
    const { document } = place;
    const old = before.get(key);
    if (old?.document.version === document.version) continue;
    const fields = old
      ? takenFields(caller, called, { place, old })
      : await takenOwner(trial, caller, called, place);
    for (const field of fields) add(place, field);
    const isOpen = old
      ? await isAllowed(trial, caller, "update", old)
      : !["anonymous", "key"].includes(caller.name) ||
        (await mayWrite(trial, nobody, "create", place));
    if (!isOpen) add(place);
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
  { result }: Called,
  { document, resource }: Planted,
): Promise<readonly string[]> {
  const { body, ...request } = result.request;
  const { owner } = resource;
  const id = caller.viewer.user?.id;
  if (!isObject(body) || setsAll(caller) || owner === undefined || owner === "id") return [];
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
  { declared = {}, result }: Called,
  { place, old }: Record<"old" | "place", Planted>,
): readonly string[] {
  const { document, resource } = place;
  const { body } = result.request;
  if (!isObject(body) || setsAll(caller)) return [];
  const isSent = (field: string): boolean =>
    Object.hasOwn(body, field) &&
    JSON.stringify(body[field]) === JSON.stringify(Reflect.get(document, field));
  return Object.keys(body).filter(
    (field) =>
      isSent(field) &&
      body[field] !== Reflect.get(old.document, field) &&
      (resource.owner === "id" || !Object.hasOwn(declared, field)) &&
      !isWritable(caller, field, old),
  );
}

/** An own route may do more than the rules for owners and admins, but not for a reading key. */
async function isAllowed(
  trial: Trial,
  caller: Caller,
  operation: "remove" | "update",
  planted: Planted,
): Promise<boolean> {
  if (caller.name === "key") return planted.resource.access[operation] === "public";
  if (setsAll(caller) || isOwner(caller, planted.resource, planted.document)) return true;
  return mayWrite(trial, caller, operation, planted);
}

/**
 * What a rule says. A function is asked by a request whose `If-Match` never holds, so that a change
 * gets a 412 if the caller may make it. A creation, and what handlers of one's own do, is undone.
 */
async function mayWrite(
  trial: Trial,
  caller: Caller,
  operation: "create" | "remove" | "update",
  planted: Planted,
): Promise<boolean> {
  const { resource } = planted;
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
