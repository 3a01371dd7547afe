import { isObject } from "@fetchwork/kit";
import type { Fields, Resource } from "@fetchwork/rest";
import type { ShownRequest } from "../finding.ts";
import type { Invariant } from "../invariant.ts";
import type { Caller } from "../world/caller.ts";
import type { Planted } from "../world/planted.ts";
import { isWritable, type Subject } from "../world/rules.ts";
import type { Trial } from "./trial.ts";
import { type Found, report } from "../world/report.ts";
import { requestTo, resourceNamed } from "./try-own-routes.ts";

/** Requests at the same time, and changes after which the process ends. */
const racing = 6;
const maxChanges = 5;

/** Documents of one attempt, by resource: the one of the statement, those that lead to it, and who made them. */
interface Scene {
  readonly target: Planted;
  readonly ids: Map<Resource, string>;
  readonly caller: Caller;
}

/** What is done in a scene. */
interface Action {
  readonly name: string;
  /** From the resource that has to be there to the one of the statement. */
  readonly chain: readonly Resource[];
  /** What is done before, when it is not what is tried. */
  prepare?(scene: Scene): ShownRequest;
  request(scene: Scene, round: number): ShownRequest;
}

/** Does everything that may concern a statement: once, many times at once, repeated, and with the process ending in between. */
export async function tryInvariant(trial: Trial, invariant: Invariant): Promise<void> {
  const first = await scene(trial, invariant.resource, []);
  if ((await valueOf(trial, invariant, first)) === "false") {
    const answer = { request: { method: "POST", path: invariant.resource.path }, status: 201 };
    reportBroken(trial, invariant, { scene: first, answer, way: "create" });
  }
  for (const action of actionsOn(trial, invariant.resource)) {
    for (const way of ["once", "race", "retry", "crash"] as const) {
      if (await tryAction(trial, invariant, { action, way })) break;
    }
  }
}

/** Whether the statement is broken. */
async function tryAction(
  trial: Trial,
  invariant: Invariant,
  { action, way }: { readonly action: Action; readonly way: "crash" | "once" | "race" | "retry" },
): Promise<boolean> {
  const { sender, world } = trial;
  const attempts = way === "crash" ? maxChanges : 0;
  for (let changes = 0; changes <= attempts; changes += 1) {
    const target = await scene(trial, invariant.resource, []);
    const before = await valueOf(trial, invariant, target);
    const made = await scene(trial, invariant.resource, action.chain, target);
    const callers = [made.caller, ...world.callers.filter(({ name }) => name !== "key")];
    if (action.prepare) await sender.send(made.caller, action.prepare(made));
    const fatal = way === "crash" ? changes : undefined;
    let request = action.request(made, 1);
    let { caller } = made;
    let status = 0;
    let hasEnded = false;
    for (caller of callers) {
      const idempotencyKey = `statement-${sender.requests}-of-this-request`;
      if (way === "retry" || way === "crash") request = { ...request, idempotencyKey };
      const sent = Array.from({ length: way === "race" ? racing : 1 }, (_, round) =>
        sender.send(caller, round === 0 ? request : action.request(made, round + 1), fatal),
      );
      const answers = await Promise.all(sent);
      if (way === "retry") {
        await Promise.all([sender.send(caller, request), sender.send(caller, request)]);
      }
      status = answers[0]?.status ?? 0;
      hasEnded = answers.some((one) => one.hasEnded);
      if (answers.some((one) => one.status < 400 || one.status >= 500)) break;
    }
    const found = { scene: made, way: `${way} ${action.name}` };
    let isBroken = await hasChanged(trial, invariant, target, before);
    if (!isBroken && hasEnded) {
      await repeat(trial, caller, { ...found, request });
      isBroken = await hasChanged(trial, invariant, target, before);
    }
    if (isBroken) {
      reportBroken(trial, invariant, { ...found, answer: { request, status } });
      return true;
    }
    if (!hasEnded) return false;
  }
  return false;
}

/** Repeats what ended with its process: a response under the key is kept. */
async function repeat(
  trial: Trial,
  caller: Caller,
  { request, scene, way }: Pick<Found, "way"> & { scene: Scene; request: ShownRequest },
): Promise<void> {
  const first = await trial.sender.send(caller, request);
  const answer = await trial.sender.send(caller, request);
  const isKept = first.status >= 300 || first.signature === answer.signature;
  if (request.method !== "POST" || isKept) return;
  report(trial, "repeated-effect", caller, { ...scene.target, way, answer });
}

/** The value as text; `undefined` once the document is gone. */
async function valueOf(
  { world }: Trial,
  { resource, value }: Invariant,
  { target }: Scene,
): Promise<string | undefined> {
  const documents = world.store.collection(resource.collection);
  const document = await documents.get(target.document.id);
  if (document === undefined) return undefined;
  return JSON.stringify(await value(document as never, world.store)) ?? "nothing";
}

/** Whether the value is another one; not of a document that is gone. */
async function hasChanged(
  trial: Trial,
  invariant: Invariant,
  target: Scene,
  before: string | undefined,
): Promise<boolean> {
  const after = await valueOf(trial, invariant, target);
  return after !== undefined && before !== after;
}

function reportBroken(
  trial: Trial,
  { name: field, resource }: Invariant,
  { scene, ...found }: Pick<Found, "answer" | "way"> & { readonly scene: Scene },
): void {
  const { document } = scene.target;
  report(trial, "invariant-broken", scene.caller, { ...found, resource, document, field });
}

/** Everything that may concern a resource: what leads to it, and routes of the project. */
function actionsOn(trial: Trial, target: Resource): readonly Action[] {
  const { ownRoutes, service } = trial.world;
  const chains = service.resources.flatMap((resource) => {
    const chain = resource.owner === "id" ? undefined : chainTo(trial, resource, target);
    return chain === undefined || chain.length < 2 ? [] : [chain];
  });
  const [longest = [target]] = chains.toSorted((one, other) => other.length - one.length);
  const unsafe = ownRoutes.filter(({ method }) => !["GET", "QUERY"].includes(method));
  return [
    ...chains.flatMap((chain) => actionsOf(trial, chain)),
    ...unsafe.map((route): Action => ({
      name: route.operation,
      chain: longest,
      request: ({ caller, ids }) => {
        const owner = caller.viewer.user?.id ?? "ada";
        const { body, ...request } = requestTo(trial, { route, ids, owner });
        return { ...request, body: isObject(body) ? small(body, 1) : body };
      },
    })),
  ];
}

function actionsOf(trial: Trial, chain: readonly Resource[]): readonly Action[] {
  const [resource, next] = chain;
  if (resource === undefined || next === undefined) return [];
  const { path } = resource;
  const [other] = trial.world.garden.of(next);
  const moved = resource.fields.find((field) => refersTo(trial, resource, field) === next);
  const moves = moved === undefined || resource.immutable.has(moved) ? [] : [moved];
  const at = ({ ids }: Scene, one = resource): string => `${one.path}/${ids.get(one) ?? "none"}`;
  const patch = (made: Scene, body: Fields): ShownRequest => ({
    method: "PATCH",
    path: at(made),
    body,
  });
  const remove = (made: Scene, one?: Resource): ShownRequest => ({
    method: "DELETE",
    path: at(made, one),
  });
  const changesOf = ({ caller, ids }: Scene, round: number): Fields => {
    const document = { [resource.owner ?? ""]: caller.viewer.user?.id };
    const body = sampleOf(trial, caller, { resource, document, ids, round });
    const plain = Object.entries(body).filter(([field]) => !refersTo(trial, resource, field));
    return Object.fromEntries(plain);
  };
  const restore: Action = {
    name: `restore ${resource.name}`,
    chain,
    prepare: (made) => remove(made),
    request: (made) => ({ method: "POST", path: `${at(made)}/restore` }),
  };
  return [
    {
      name: `create ${resource.name}`,
      chain: chain.slice(1),
      request: ({ caller, ids }, round) => ({
        method: "POST",
        path,
        body: sampleOf(trial, caller, { resource, ids, round }),
      }),
    },
    {
      name: `update ${resource.name}`,
      chain,
      request: (made, round) => patch(made, changesOf(made, round + 1)),
    },
    ...moves.map((field) => ({
      name: `move ${resource.name}`,
      chain,
      request: (made: Scene) => patch(made, { [field]: other?.document.id }),
    })),
    ...(resource.softDelete ? [restore] : []),
    ...chain.slice(0, -1).map((one) => ({
      name: one === resource ? `remove ${one.name}` : `remove ${one.name} of ${resource.name}`,
      chain,
      request: (made: Scene) => remove(made, one),
    })),
  ];
}

/** The shortest way by references from a resource to another one, both included. */
function chainTo(trial: Trial, from: Resource, to: Resource): readonly Resource[] | undefined {
  let ways: readonly (readonly Resource[])[] = [[from]];
  const seen = new Set([from]);
  while (ways.length > 0) {
    const found = ways.find((way) => way.at(-1) === to);
    if (found) return found;
    ways = ways.flatMap((way) => {
      const last = way.at(-1) ?? from;
      const names = [...last.fields, ...(last.owner === undefined ? [] : [last.owner])];
      const next = new Set(names.flatMap((name) => refersTo(trial, last, name) ?? []));
      const fresh = [...next].filter((one) => !seen.has(one));
      for (const one of fresh) seen.add(one);
      return fresh.map((one) => [...way, one]);
    });
  }
  return undefined;
}

/** The resource that a field has an identifier of: by its relation, by its name, or as the owner. */
function refersTo(trial: Trial, resource: Resource, field: string): Resource | undefined {
  const relation = resource.relations.references.find((one) => one.field === field);
  if (relation) return relation.to();
  if (field === "id") return undefined;
  if (field === resource.owner) return trial.world.service.options.accounts?.user;
  return resourceNamed(trial, field);
}

/** Makes a document of the statement, or those of a chain that leads to one that is there. */
async function scene(
  trial: Trial,
  target: Resource,
  chain: readonly Resource[],
  base?: Scene,
): Promise<Scene> {
  if (base === undefined) {
    const [planted] = trial.world.garden.of(target);
    const [, caller] = trial.world.callers;
    if (target.owner === "id" && planted && caller) {
      return { target: planted, caller, ids: new Map([[target, planted.document.id]]) };
    }
  }
  const ids = new Map(base?.ids);
  let made = base;
  for (const resource of base === undefined ? [target] : chain.toReversed()) {
    if (ids.has(resource)) continue;
    const { caller, planted } = await make(trial, resource, ids, made?.caller);
    ids.set(resource, planted.document.id);
    made = { target: made?.target ?? planted, caller, ids };
  }
  if (made === undefined) throw new Error("a scene has a document");
  return { ...made, ids };
}

/** Makes a document by a request of the first caller who may, or else in the store. */
async function make(
  trial: Trial,
  resource: Resource,
  ids: Scene["ids"],
  by: Caller | undefined,
): Promise<{ readonly caller: Caller; readonly planted: Planted }> {
  const { sender, world } = trial;
  const documents = world.store.collection(resource.collection);
  const users = world.callers.filter(({ viewer }) => viewer.user !== undefined);
  const able = [...(by ? [by] : []), ...users, ...world.callers].filter(
    ({ name }) => name !== "key",
  );
  for (const caller of able) {
    const body = sampleOf(trial, caller, { resource, ids, round: 1 });
    const { json } = await sender.send(caller, { method: "POST", path: resource.path, body });
    const id: unknown = Reflect.get(Object(json), "id");
    const document = typeof id === "string" ? await documents.get(id) : undefined;
    if (document) return { caller, planted: { resource, document } };
  }
  const { document } = await world.plant(resource, "ada");
  const references = sampleOf(trial, undefined, { resource, ids, round: 1 });
  const related = Object.entries(references).filter(([field]) => refersTo(trial, resource, field));
  const changed = await documents.update(document.id, Object.fromEntries(related));
  const [first] = able;
  if (first === undefined) throw new Error("a service has callers");
  return { caller: by ?? first, planted: { resource, document: changed ?? document } };
}

/** What is sampled: a document, or a new one of a resource, in one of the rounds of a race. */
interface Sampled extends Subject {
  readonly ids: Scene["ids"];
  readonly round: number;
}

/** What a caller sends to create a document that refers to those of a scene. */
function sampleOf(
  trial: Trial,
  caller: Caller | undefined,
  { ids, round, ...subject }: Sampled,
): Fields {
  const owner = caller?.viewer.user?.id ?? "ada";
  const fields = Object.entries(trial.world.sample(subject.resource, owner));
  const sample = fields.flatMap(([field, value]) => {
    if (caller !== undefined && !isWritable(caller, field, subject)) return [];
    const to = refersTo(trial, subject.resource, field);
    const id = to && ids.get(to);
    return [[field, id === undefined ? value : Array.isArray(value) ? [id] : id] as const];
  });
  const sent = Object.fromEntries(sample);
  return ids.size > 0 ? small(sent, round) : sent;
}

/** Marked numbers are too large for what is taken of something else. */
function small(fields: Fields, round: number): Fields {
  const entries = Object.entries(fields).map(([field, value]) => [
    field,
    typeof value === "number" && value >= 7_000_000 ? round : value,
  ]);
  return Object.fromEntries(entries) as Fields;
}
