import { isObject } from "@fetchwork/kit";
import type { Fields, JsonSchema, Resource, Route } from "@fetchwork/rest";
import type { ShownRequest, Found } from "../finding.ts";
import { canaryOf, marksIn, propertiesOf } from "../world/canary.ts";
import { type Caller, isOwner } from "../caller.ts";
import { isWritable, ruleLets } from "../world/rules.ts";
import { maxStates, type Planted, requestFor } from "../world/planted.ts";
import type { Outcome } from "../world/sender.ts";
import { createdIn, undo, type Undone } from "../world/snapshot.ts";
import { withQuery } from "../world/with-query.ts";
import { scan, type Trial } from "./trial.ts";
import { attackBodies } from "./attack-bodies.ts";
import { type Place, tryOwnAsks } from "./try-own-asks.ts";
import { isTaken, writable } from "./try-writes.ts";

const owners: readonly Pick<Target, "other" | "owner">[] = [
  { owner: "ada" },
  { owner: "ada", other: "bob" },
  { owner: "bob" },
  { owner: "bob", other: "ada" },
];

/** Calls each route of the project as every caller, with documents of each owner. */
export async function tryOwnRoutes(trial: Trial): Promise<void> {
  for (const route of trial.world.ownRoutes) {
    for (const caller of trial.world.callers) {
      const sent = new Set<string>();
      for (let state = 0; state < maxStates; state += 1) {
        for (const owned of owners) await tryRoute(trial, caller, { route, state, ...owned }, sent);
      }
    }
  }
}

/** A route, and whose documents it is called with. */
interface Target {
  readonly route: Route;
  readonly owner: string;
  /** Number of its document, where there is one for each member of an enum. Default: the first. */
  readonly state?: number;
  /** Identifiers of documents that are used before those of the owner. */
  readonly ids?: ReadonlyMap<Resource, string> | undefined;
  /** Another owner: of what the last parameter of several, and the last one of a list, names. */
  readonly other?: string | undefined;
}

type Owned = Omit<Target, "route">;

/** Response of a route, and the changes that the request made. */
type Called = Undone<Outcome> & Place;

/** @param sent - Requests of the caller, of which none is sent again. */
async function tryRoute(
  trial: Trial,
  caller: Caller,
  target: Target,
  sent: Set<string>,
): Promise<void> {
  const { route } = target;
  const required = (route.query ?? []).filter((one) => one.required === true);
  const query = Object.fromEntries(
    required.map(({ name, schema }) => [name, idFor(trial, name, target) ?? canaryOf(schema, 1)]),
  );
  const declared = bodyFor(trial, target);
  for (const path of pathsFor(trial, target)) {
    const place = { route, path, query, declared };
    for (const body of [declared, ...attackBodies(trial, caller, { route, declared })]) {
      const request = { method: route.method, path: withQuery(path, query), body };
      const key = JSON.stringify(request);
      if (sent.has(key)) continue;
      sent.add(key);
      const undone = await undo(trial.world, () => trial.sender.send(caller, request));
      scan(trial, caller, undone.result, route.operation);
      await compare(trial, caller, { ...undone, ...place });
      if (body === declared && target.state === 0) await tryOwnAsks(trial, caller, place);
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
  const { path, resource: about = resourceNamed(trial, path.split("/")[1]) } = route;
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
  const { body, bodyReference } = target.route;
  const described = body?.["~standard"].jsonSchema.input({ target: "draft-2020-12" });
  const schema = bodyReference ?? described;
  return schema && fieldsOf(trial, schema, target);
}

/** Values for the fields of a body, or of an object inside. */
function fieldsOf(trial: Trial, schema: JsonSchema, target: Target): Fields {
  const fields = Object.entries(propertiesOf(schema)).map(([name, inner], index) => {
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
  if (id === undefined) return other && marksIn(String(made))[0] === made ? other : made;
  if (!Array.isArray(made)) return id;
  return other ? [id, idFor(trial, name, { route, owner: other })] : [id];
}

/** The identifier that a name stands for: `article`, `articleId`, `article_id`, or `id` alone. */
function idFor(trial: Trial, name: string, target: Target): string | undefined {
  const [first] = trial.world.service.resources;
  const isBare = name === "id" || name === "ids";
  const [, start] = target.route.path.split("/");
  const about = isBare ? (resourceNamed(trial, start) ?? first) : undefined;
  return idOf(trial, resourceNamed(trial, name) ?? about, target);
}

function idOf(trial: Trial, of: Resource | undefined, owned: Owned): string | undefined {
  return (of && owned.ids?.get(of)) ?? plantedFor(trial, of, owned)?.document.id;
}

function plantedFor(
  { world: { garden } }: Trial,
  of: Resource | undefined,
  { owner, state = 0 }: Owned,
): Planted | undefined {
  if (of === undefined) return undefined;
  if (of.owner === "id") return garden.byId(owner);
  const place = owner === "ada" ? 0 : 1;
  const planted = garden.of(of).filter(({ isRemoved }) => isRemoved !== true);
  return planted[2 * state + place] ?? planted[place];
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
  const { after, before, declared = {}, result: response, route } = called;
  const { body } = response.request;
  for (const [key, place] of after) {
    const old = before.get(key);
    if (old?.document.version === place.document.version) continue;
    if (isObject(body) && !setsAll(caller)) {
      const fields = old ? await takenFields(key, old, body) : await takenOwner(place, body);
      for (const field of fields) add(old ?? place, field);
    }
    const operation = old ? "update" : "create";
    if (!(await isAllowed(trial, caller, operation, old ?? place))) add(old ?? place);
  }
  for (const [key, place] of before) {
    if (after.has(key)) continue;
    if (!(await isAllowed(trial, caller, "remove", place))) add(place);
  }

  function add(place: Pick<Found, "document" | "resource">, field?: string): void {
    const code = field === undefined ? "document-written" : "field-written";
    trial.findings.report(code, caller, { ...place, field, way: route.operation, response });
  }

  function resend(body: object): Promise<Undone<Outcome>> {
    return undo(trial.world, () => trial.sender.send(caller, { ...response.request, body }));
  }

  /**
   * Fields that take the value of the body, and the known one if that is sent. A route may declare
   * fields that the caller must not set, but not of users.
   */
  async function takenFields(key: string, old: Planted, sent: Fields): Promise<string[]> {
    const isOfUser = old.resource.owner === "id";
    const fields: string[] = [];
    for (const field of Object.keys(sent)) {
      const attack = [field, sent[field]] as const;
      if (isTaken(old.document, attack) || !isTaken(after.get(key)?.document, attack)) continue;
      if (isWritable(caller, field, old)) continue;
      if (!isOfUser && Object.hasOwn(declared, field)) continue;
      const plain = await resend({ ...sent, [field]: Reflect.get(old.document, field) });
      if (!isTaken(plain.after.get(key)?.document, attack)) fields.push(field);
    }
    return fields;
  }

  /**
   * The owner of a new document that the body names instead of the caller. Another field does so if
   * the caller owns what is created without it, or with the caller in it. The latter may be right
   * where the caller does not create such documents, as for a notice.
   */
  async function takenOwner({ document, resource }: Planted, sent: Fields): Promise<string[]> {
    const { owner } = resource;
    const id = caller.viewer.user?.id;
    if (owner === undefined || owner === "id") return [];
    const named: unknown = Reflect.get(document, owner);
    if (named === id) return [];
    if (sent[owner] === named && named !== undefined) return [owner];
    const mayCreate = ruleLets(caller, "create", { resource }) !== false;
    for (const name of Object.keys(sent).filter((one) => sent[one] === named)) {
      for (const value of mayCreate ? [undefined, id] : [undefined]) {
        const created = createdIn(await resend({ ...sent, [name]: value }), resource);
        if (created.some((one) => isOwner(caller, resource, one))) return [owner];
      }
    }
    return [];
  }
}

/** Whether a caller sets the owner and each field by right. */
function setsAll({ viewer }: Caller): boolean {
  return viewer.isMaster === true || viewer.user?.role === "admin";
}

/**
 * For users who create, owners and admins, an own route may do more than the rules. For a reading
 * key it may not. The request that asks a function has an `If-Match` that never holds: a 412 says
 * that the caller may make the change. A creation, and what handlers of one's own do, is undone.
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
  const caller = isCreated ? trial.world.callers[0] : by;
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
