import type { UnindexedQuery } from "@fetchwork/documents";
import type { Resource } from "@fetchwork/rest";
import type { Findings, ShownRequest } from "../finding.ts";
import type { Caller } from "../caller.ts";
import { openWorld, type World, type WorldOptions } from "../world/open-world.ts";
import { Sender } from "../world/sender.ts";
import { fillStore } from "./fill-store.ts";
import { type ListRequest, listRequests } from "./list-requests.ts";

/** Cost of a list with many documents. */
export interface Cost {
  /** Name of the resource. */
  readonly resource: string;
  readonly caller: string;
  /** `list`, `count`, `search`, `sort`, `filter`, or `parameter` with its name. */
  readonly way: string;
  readonly request: ShownRequest;
  /** Time of a response with a tenth of the documents, in milliseconds. */
  readonly few: number;
  /** Time of a response with all documents, in milliseconds. */
  readonly many: number;
}

/** How often a request is repeated; the fastest response counts. */
const repetitions = 3;
/** A slow response is not repeated, in milliseconds. */
const slow = 500;
/** Below this a response may be slow by chance, in milliseconds. */
const noticeable = 250;
/** By which factor a response is slower with ten times the documents, if it grows with them. */
const growing = 3;

/**
 * Measures lists with made documents of each resource, in a SQLite file that is removed.
 * The queries of a request say what no index serves, and its time says what else grows.
 */
export async function tryScale(
  { findings, world: tried }: { readonly findings: Findings; readonly world: World },
  documents: number,
  settings: WorldOptions["settings"],
  signal: AbortSignal | undefined,
): Promise<readonly Cost[]> {
  const unindexed: UnindexedQuery[] = [];
  const onUnindexedQuery = (query: UnindexedQuery): void => void unindexed.push(query);
  await using world = await openWorld(tried.service, { isFile: true, settings, onUnindexedQuery });
  const sender = new Sender(world, findings, signal);
  const tenth = Math.ceil(documents / 10);
  await fillStore(world, 0, tenth, signal);
  const asked = await askable(world, sender, Math.floor(tenth / 2));
  const few: number[] = [];
  for (const one of asked) {
    unindexed.length = 0;
    few.push(await timeOf(sender, one));
    for (const { collection, warnings } of unindexed) {
      const read = world.service.resources.find((each) => each.collection.name === collection);
      const resource = read ?? one.resource;
      addGrowing(findings, { ...one, resource }, `Add the index: ${warnings.join("; ")}`);
    }
  }
  await fillStore(world, tenth, documents, signal);
  const known = new Set(
    findings.list().flatMap(({ code, request }) => (code === "cost-grows" ? [request.path] : [])),
  );
  const costs: Cost[] = [];
  for (const [index, one] of asked.entries()) {
    const { caller, request, resource, way } = one;
    const cost = { resource: resource.name, caller: caller.name, way, request };
    costs.push({ ...cost, few: few[index] ?? 0, many: await timeOf(sender, one) });
  }
  for (const [index, one] of asked.entries()) {
    const { few: before = 0, many = 0 } = costs[index] ?? {};
    if (!grows(before, many) || known.has(one.request.path)) continue;
    // A machine that was busy with something else for a moment is not again.
    const again = await timeOf(sender, one);
    if (!grows(before, again)) continue;
    const declared = `declare indexes: [${JSON.stringify(one.fields)}] of ${one.resource.name}`;
    const help = one.fields.length === 0 ? "count fewer with list.count" : declared;
    const cost = `${before} ms with a tenth of the documents, ${Math.min(many, again)} ms with all`;
    addGrowing(findings, one, `Make it cheaper, or ${help}: ${cost}`);
  }
  tried.skipped.push(...world.skipped);
  return costs;
}

interface Asked extends ListRequest {
  readonly caller: Caller;
  readonly resource: Resource;
}

/** Returns the requests for lists, by every caller who lists something else than others do. */
async function askable(world: World, sender: Sender, number: number): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const resource of world.service.resources) {
    const listing: Caller[] = [];
    for (const caller of world.callers.filter(({ name }) => name !== "key")) {
      const { status } = await sender.send(caller, { method: "GET", path: resource.path });
      if (status === 200) listing.push(caller);
    }
    if (listing.length === 0) world.skipped.push(`nobody lists ${resource.plural}`);
    const rule = resource.access.list;
    const isSame = typeof rule === "string" && rule !== "owner";
    const callers = isSame ? listing.slice(0, 1) : listing;
    const requests = await listRequests(world, resource, number);
    asked.push(
      ...callers.flatMap((caller) => requests.map((one) => ({ ...one, caller, resource }))),
    );
  }
  return asked;
}

function grows(few: number, many: number): boolean {
  return many >= noticeable && many >= growing * few;
}

async function timeOf(sender: Sender, { caller, request }: Asked): Promise<number> {
  let fastest = Infinity;
  for (let left = repetitions; left > 0; left -= 1) {
    const started = performance.now();
    await sender.send(caller, request);
    fastest = Math.min(fastest, performance.now() - started);
    if (fastest > slow) break;
  }
  return Math.round(fastest * 10) / 10;
}

function addGrowing(findings: Findings, { caller, ...asked }: Asked, fix: string): void {
  const response = { request: asked.request, status: 200 };
  findings.report("cost-grows", caller, { ...asked, field: asked.fields[0], response, fix });
}
