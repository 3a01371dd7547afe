import type { Resource } from "@fetchwork/rest";
import type { Caller } from "../caller.ts";
import { requestFor } from "../world/planted.ts";
import { ruleLets } from "../world/rules.ts";
import { withQuery } from "../world/with-query.ts";
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
  // A list may show documents of another resource, whose rules are asked before.
  for (const attempt of [askRules, tryLists, tryDocuments]) {
    for (const resource of service.resources) {
      for (const caller of callers) await attempt(trial, caller, resource);
    }
  }
}

/** Names of all fields that a document may have. */
export function fieldNames({ world }: Trial, resource: Resource): readonly string[] {
  const stored = world.garden.of(resource).flatMap(({ document }) => Object.keys(document));
  return [...new Set([...resource.fields, ...resource.list.selectable, ...stored])];
}

/**
 * Asks for each document alone and in the list, which says what functions and hooks let a caller
 * see. A hook that refuses a document alone must leave it out of lists, and the other way around.
 * A document that a rule as a function refuses must not be listed either.
 */
async function askRules(trial: Trial, caller: Caller, resource: Resource): Promise<void> {
  const { findings, sender, visibility, world } = trial;
  const { access, hooks, path } = resource;
  const isHooked = Object.keys(hooks).some((name) => /(List|Show)$/.test(name));
  const list = await sender.send(caller, { method: "GET", path });
  const listed = new Set(documentsIn(list.json).map((one): unknown => Reflect.get(one, "id")));
  for (const planted of world.garden.of(resource)) {
    const shown = await sender.send(caller, requestFor("GET", planted));
    const isListed = listed.has(planted.document.id);
    const isShown = shown.status === 200;
    visibility.note(caller, planted, { list: isListed, show: isShown });
    if (caller.viewer.isMaster) continue; // It sees all, so nothing is hidden from it.
    const mayRead = ruleLets(caller, "show", planted) && ruleLets(caller, "list", planted);
    const isMeant = typeof access.show === "function" ? isListed : isHooked && mayRead === true;
    if (list.status !== 200 || !isMeant || isListed === isShown) continue;
    const gap = isListed ? { response: list, way: "list" } : { response: shown, way: "show" };
    findings.report("hook-gap", caller, { ...planted, ...gap });
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
