import type { Resource } from "@fetchwork/rest";
import type { Caller } from "../caller.ts";
import { requestFor } from "../world/planted.ts";
import { ruleLets } from "../world/rules.ts";
import { documentsIn, scan, type Trial } from "./trial.ts";

/** A request for documents, with the way that it is. */
interface Way {
  readonly way: string;
  /** Its parameters, or the body of a QUERY. */
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** Reads every document as every caller: alone, in lists, and by each parameter. */
export async function tryReads(trial: Trial): Promise<void> {
  const { callers, service } = trial.world;
  for (const resource of service.resources) {
    for (const caller of callers) {
      await askFunctions(trial, caller, resource);
      await tryGaps(trial, caller, resource);
      await tryLists(trial, caller, resource);
      await tryDocuments(trial, caller, resource);
    }
  }
}

/** Names of all fields that a document may have. */
export function fieldNames({ world }: Trial, resource: Resource): readonly string[] {
  const stored = world.garden.of(resource).flatMap(({ document }) => Object.keys(document));
  return [...new Set([...resource.fields, ...resource.list.selectable, ...stored])];
}

/** A rule that is a function is asked by a request: what it shows may be shown. */
async function askFunctions(trial: Trial, caller: Caller, resource: Resource): Promise<void> {
  const { sender, visibility, world } = trial;
  const { access, path } = resource;
  const isAsked = typeof access.list === "function";
  const listed = isAsked ? await sender.send(caller, { method: "GET", path }) : undefined;
  for (const planted of world.garden.of(resource)) {
    if (listed?.status === 200) visibility.allow(caller, planted);
    if (typeof access.show !== "function") continue;
    const { status } = await sender.send(caller, requestFor("GET", planted));
    if (status === 200) visibility.allow(caller, planted);
  }
}

/**
 * A hook that refuses a document alone must leave it out of lists, and the other way around. What
 * a rule that is a function refuses, for whatever reason, must not be listed either.
 */
async function tryGaps(trial: Trial, caller: Caller, resource: Resource): Promise<void> {
  const { sender, world } = trial;
  const { access, hooks, path } = resource;
  const isAsked = typeof access.show === "function";
  const isHooked = hooks.beforeList !== undefined || hooks.beforeShow !== undefined;
  if (!isAsked && (!isHooked || typeof access.list === "function")) return;
  const list = await sender.send(caller, { method: "GET", path: `${path}?limit=100` });
  if (list.status !== 200) return;
  const listed = new Set(documentsIn(list.json).map((one): unknown => Reflect.get(one, "id")));
  for (const { document } of world.garden.of(resource)) {
    const place = { resource, document };
    const isListed = listed.has(document.id);
    const isMeant = ruleLets(caller, "show", place) === true && ruleLets(caller, "list", place);
    if (isAsked ? !isListed : isMeant !== true) continue;
    const shown = await sender.send(caller, requestFor("GET", place));
    if (isListed === (shown.status === 200)) continue;
    const gap = isListed ? { answer: list, way: "list" } : { answer: shown, way: "show" };
    trial.findings.report("hook-gap", caller, { ...place, ...gap });
  }
}

async function tryLists(trial: Trial, caller: Caller, resource: Resource): Promise<void> {
  const { sender } = trial;
  const { path } = resource;
  const orders = fieldNames(trial, resource).flatMap((field) => [field, `-${field}`]);
  const ways: readonly Way[] = [
    { way: "list", parameters: {} },
    { way: "list", parameters: { limit: 1, after: "" } },
    ...(resource.softDelete ? [{ way: "list", parameters: { trash: "with" } }] : []),
    ...shownWays(trial, resource),
    ...orders.map((sort) => ({ way: "sort", parameters: { sort, limit: 1, after: "" } })),
  ];
  for (const { way, parameters } of ways) {
    const get = { method: "GET", path: withQuery(path, parameters) };
    scan(trial, caller, await sender.send(caller, get), way);
    const query = { method: "QUERY", path, body: parameters };
    scan(trial, caller, await sender.send(caller, query), way);
  }
  if ((resource.list.groups ?? []).length === 0) return;
  for (const field of fieldNames(trial, resource)) {
    for (const query of [`by=${field}`, `min=${field}&max=${field}`]) {
      const groups = { method: "GET", path: `${path}/groups?${query}` };
      scan(trial, caller, await sender.send(caller, groups), "groups");
    }
  }
}

async function tryDocuments(trial: Trial, caller: Caller, resource: Resource): Promise<void> {
  const ways = [{ way: "show", parameters: {} }, ...shownWays(trial, resource)];
  for (const planted of trial.world.garden.of(resource)) {
    const { method, path } = requestFor("GET", planted);
    for (const { parameters, way } of ways) {
      const request = { method, path: withQuery(path, parameters) };
      scan(trial, caller, await trial.sender.send(caller, request), way);
    }
  }
}

/** Ways that choose what is shown of a document. */
function shownWays(trial: Trial, resource: Resource): readonly Way[] {
  return [
    ...fieldNames(trial, resource).map((fields) => ({ way: "fields", parameters: { fields } })),
    ...resource.relations.paths.map((populate) => ({ way: "populate", parameters: { populate } })),
  ];
}

function withQuery(path: string, parameters: Way["parameters"]): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}
