import type { UnindexedQuery } from "@fetchwork/documents";
import type { Resource } from "@fetchwork/rest";
import type { Service } from "@fetchwork/service";
import { type Finding, Findings, type ShownRequest } from "../finding.ts";
import type { Caller } from "../world/caller.ts";
import { report } from "../world/report.ts";
import { openWorld, type World } from "../world/open-world.ts";
import { Sender } from "../world/sender.ts";
import { fillStore } from "./fill-store.ts";
import { type ListRequest, listRequests } from "./list-requests.ts";

/** What a list costs with many documents. */
export interface Cost {
  /** Name of the resource. */
  readonly resource: string;
  readonly caller: string;
  /** `list`, `count`, `search`, `sort`, `filter`, or `parameter` with its name. */
  readonly way: string;
  readonly request: ShownRequest;
  /** Of a response with a tenth of the documents, in milliseconds. */
  readonly few: number;
  /** Of a response with all documents, in milliseconds. */
  readonly many: number;
}

/** How lists are measured. */
interface ScaleOptions {
  /** Made documents of each resource. */
  readonly documents: number;
  readonly signal: AbortSignal | undefined;
}

/** What was measured, and what grows. */
export interface ScaleReport {
  readonly costs: readonly Cost[];
  readonly findings: readonly Finding[];
  readonly skipped: readonly string[];
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
 * Measures lists with a number of made documents of each resource, in a SQLite file that is removed afterwards. What no
 * index serves is found by the queries that requests run, and what else grows by the time that responses take.
 */
export async function tryScale(
  service: Service,
  settings: Readonly<Record<string, string>>,
  options: ScaleOptions,
): Promise<ScaleReport> {
  const unindexed: UnindexedQuery[] = [];
  const onUnindexedQuery = (query: UnindexedQuery): void => void unindexed.push(query);
  const world = await openWorld(service, { isFile: true, settings, onUnindexedQuery });
  try {
    return await measure(world, options, unindexed);
  } finally {
    await world[Symbol.asyncDispose]();
  }
}

async function measure(
  world: World,
  { documents, signal }: ScaleOptions,
  unindexed: UnindexedQuery[],
): Promise<ScaleReport> {
  const findings = new Findings();
  const sender = new Sender(world, findings, signal);
  const tenth = Math.ceil(documents / 10);
  await fillStore(world, 0, tenth, signal);
  const asked = await askable(world, sender, Math.floor(tenth / 2));
  const few: number[] = [];
  for (const one of asked) {
    unindexed.length = 0;
    few.push(await timeOf(sender, one));
    for (const query of unindexed) addUnindexed({ findings, world }, one, query);
  }
  await fillStore(world, tenth, documents, signal);
  const costs: Cost[] = [];
  for (const [index, one] of asked.entries()) {
    const { caller, request, resource, way } = one;
    const many = await timeOf(sender, one);
    const cost = { resource: resource.name, caller: caller.name, way, request };
    costs.push({ ...cost, few: few[index] ?? 0, many });
  }
  const known = new Set(findings.list().map(({ request }) => request.path));
  for (const [index, { few: before, many }] of costs.entries()) {
    const one = asked[index];
    if (one === undefined || !grows(before, many) || known.has(one.request.path)) continue;
    // A machine that was busy with something else for a moment is not again.
    const again = await timeOf(sender, one);
    if (grows(before, again)) addGrowing(findings, one, { before, many: Math.min(many, again) });
  }
  return { costs, findings: findings.list(), skipped: world.skipped };
}

interface Asked extends ListRequest {
  readonly caller: Caller;
  readonly resource: Resource;
}

/** What is asked: by everyone who lists something else than others do. */
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

function addUnindexed(
  { findings, world }: { readonly findings: Findings; readonly world: World },
  { caller, resource: asked, ...one }: Asked,
  { collection, warnings }: UnindexedQuery,
): void {
  const read = world.service.resources.find((each) => each.collection.name === collection);
  const fix = `Add the index: ${warnings.join("; ")}`;
  const answer = { request: one.request, status: 200 };
  report({ findings }, "cost-grows", caller, { ...one, resource: read ?? asked, answer, fix });
}

function addGrowing(
  findings: Findings,
  { caller, ...asked }: Asked,
  { before, many }: { readonly before: number; readonly many: number },
): void {
  const index = `declare indexes: [${JSON.stringify(asked.fields)}] of ${asked.resource.name}`;
  const help = asked.fields.length === 0 ? "count fewer with list.count" : index;
  const cost = `${before} ms with a tenth of the documents, ${many} ms with all`;
  const answer = { request: asked.request, status: 200 };
  const fix = `Make it cheaper, or ${help}: ${cost}`;
  report({ findings }, "cost-grows", caller, { ...asked, answer, fix });
}
