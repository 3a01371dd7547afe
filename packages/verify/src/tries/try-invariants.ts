import { isObject } from "@fetchwork/kit";
import type { Fields, Resource } from "@fetchwork/rest";
import type { ShownRequest, Found } from "../finding.ts";
import type { Invariant } from "../invariant.ts";
import type { Caller } from "../caller.ts";
import type { Planted } from "../world/planted.ts";
import { isWritable, type Subject } from "../world/rules.ts";
import type { Outcome } from "../world/sender.ts";
import type { Trial } from "./trial.ts";
import { requestTo, resourceNamed } from "./try-own-routes.ts";

/** Requests at the same time, and changes after which the process ends. */
const racing = 6;
const maxChanges = 5;
const ways = ["once", "race", "retry", "crash"] as const;

/** Documents of one attempt, by resource, and who made them. */
interface Scene {
  /** The document of the statement. */
  readonly target: Planted;
  readonly ids: Map<Resource, string>;
  readonly caller: Caller;
}

/** Action in a scene. */
interface Action {
  readonly name: string;
  /** From the resource that has to be there to the one of the statement. */
  readonly chain: readonly Resource[];
  /** Request before the one that is tried, if there is one. */
  prepare?(scene: Scene): ShownRequest;
  request(scene: Scene, round: number): ShownRequest;
}

/** Tries everything that may break a statement: once, in a race, repeated, and with a crash. */
export async function tryInvariant(trial: Trial, invariant: Invariant): Promise<void> {
  const { sender, world } = trial;
  const { name: field, resource, value } = invariant;
  const documents = world.store.collection(resource.collection);

  const first = await newScene(trial, resource);
  if ((await valueOf(first)) === "false") {
    const response = { request: { method: "POST", path: resource.path }, status: 201 };
    reportBroken(first, { response, way: "create" });
  }
  for (const action of actionsOn(trial, resource)) {
    for (const way of ways) {
      if (await isBrokenBy(action, way)) break;
    }
  }

  async function isBrokenBy(action: Action, way: (typeof ways)[number]): Promise<boolean> {
    const attempts = way === "crash" ? maxChanges : 0;
    for (let changes = 0; changes <= attempts; changes += 1) {
      const target = await newScene(trial, resource);
      const before = await valueOf(target);
      const made = await leadTo(trial, target, action.chain);
      const callers = [made.caller, ...world.callers.filter(({ name }) => name !== "key")];
      if (action.prepare) await sender.send(made.caller, action.prepare(made));
      const fatal = way === "crash" ? changes : undefined;
      let request = action.request(made, 1);
      let { caller } = made;
      let responses: readonly Outcome[] = [];
      for (caller of callers) {
        const idempotencyKey = `statement-${sender.requests}-of-this-request`;
        if (way === "retry" || way === "crash") request = { ...request, idempotencyKey };
        const sent = Array.from({ length: way === "race" ? racing : 1 }, (_, round) =>
          sender.send(caller, round === 0 ? request : action.request(made, round + 1), fatal),
        );
        responses = await Promise.all(sent);
        if (way === "retry") {
          await Promise.all([sender.send(caller, request), sender.send(caller, request)]);
        }
        if (responses.some((one) => one.status < 400 || one.status >= 500)) break;
      }
      const hasEnded = responses.some((one) => one.hasEnded);
      const tried = `${way} ${action.name}`;
      let isBroken = await hasChanged(made, before);
      if (!isBroken && hasEnded) {
        await repeat(caller, made.target, request, tried);
        isBroken = await hasChanged(made, before);
      }
      const response = { request, status: responses[0]?.status ?? 0 };
      if (isBroken) reportBroken(made, { response, way: tried });
      if (isBroken || !hasEnded) return isBroken;
    }
    return false;
  }

  /** Repeats what ended with its process: a response under the key is kept. */
  async function repeat(
    caller: Caller,
    target: Planted,
    request: ShownRequest,
    way: string,
  ): Promise<void> {
    const before = await sender.send(caller, request);
    const response = await sender.send(caller, request);
    const isKept = before.status >= 300 || before.signature === response.signature;
    if (request.method !== "POST" || isKept) return;
    trial.findings.report("repeated-effect", caller, { ...target, way, response });
  }

  /** The value as text; `undefined` once the document is gone. */
  async function valueOf({ target }: Scene): Promise<string | undefined> {
    const document = await documents.get(target.document.id);
    if (document === undefined) return undefined;
    return JSON.stringify(await value(document as never, world.store)) ?? "nothing";
  }

  /** Whether the value is another one; not of a document that is gone. */
  async function hasChanged(scene: Scene, before: string | undefined): Promise<boolean> {
    const after = await valueOf(scene);
    return after !== undefined && before !== after;
  }

  function reportBroken({ caller, target }: Scene, found: Pick<Found, "response" | "way">): void {
    const { document } = target;
    trial.findings.report("invariant-broken", caller, { ...found, resource, document, field });
  }
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
  const [other] = trial.world.garden.of(next);
  const moved = resource.fields.find((field) => refersTo(trial, resource, field) === next);
  const moves = moved === undefined || resource.immutable.has(moved) ? [] : [moved];
  const at = ({ ids }: Scene, one = resource): string => `${one.path}/${ids.get(one) ?? "none"}`;
  const action = (name: string, request: Action["request"]): Action => ({ name, chain, request });
  const changesOf = ({ caller, ids }: Scene, round: number): Fields => {
    const document = { [resource.owner ?? ""]: caller.viewer.user?.id };
    const body = sampleOf(trial, caller, { resource, document, ids, round });
    const plain = Object.entries(body).filter(([field]) => !refersTo(trial, resource, field));
    return Object.fromEntries(plain);
  };
  const restore: Action = {
    ...action(`restore ${resource.name}`, (made) => ({
      method: "POST",
      path: `${at(made)}/restore`,
    })),
    prepare: (made) => ({ method: "DELETE", path: at(made) }),
  };
  return [
    {
      name: `create ${resource.name}`,
      chain: chain.slice(1),
      request: ({ caller, ids }, round) => ({
        method: "POST",
        path: resource.path,
        body: sampleOf(trial, caller, { resource, ids, round }),
      }),
    },
    action(`update ${resource.name}`, (made, round) => ({
      method: "PATCH",
      path: at(made),
      body: changesOf(made, round + 1),
    })),
    ...moves.map((field) =>
      action(`move ${resource.name}`, (made) => ({
        method: "PATCH",
        path: at(made),
        body: { [field]: other?.document.id },
      })),
    ),
    ...(resource.softDelete ? [restore] : []),
    ...chain.slice(0, -1).map((one) => {
      const name = one === resource ? one.name : `${one.name} of ${resource.name}`;
      return action(`remove ${name}`, (made) => ({ method: "DELETE", path: at(made, one) }));
    }),
  ];
}

/** The shortest way by references from a resource to another one, both included. */
function chainTo(trial: Trial, from: Resource, to: Resource): readonly Resource[] | undefined {
  const ways = new Map([[from, [from]]]);
  // The map grows while it is read: each resource is reached by its shortest way first.
  for (const [last, way] of ways) {
    for (const name of [...last.fields, last.owner ?? ""]) {
      const next = refersTo(trial, last, name);
      if (next && !ways.has(next)) ways.set(next, [...way, next]);
    }
  }
  return ways.get(to);
}

/** The resource that a field refers to: by its relation, by its name, or as the owner. */
function refersTo(trial: Trial, resource: Resource, field: string): Resource | undefined {
  const relation = resource.relations.references.find((one) => one.field === field);
  if (relation) return relation.to();
  if (field === "id") return undefined;
  if (field === resource.owner) return trial.world.service.options.accounts?.user;
  return resourceNamed(trial, field);
}

/** Makes the document of a statement; of users, it is the first one. */
async function newScene(trial: Trial, resource: Resource): Promise<Scene> {
  const { callers, garden } = trial.world;
  const [user] = garden.of(resource);
  const [, first] = callers;
  const { caller, planted } =
    resource.owner === "id" && user && first
      ? { caller: first, planted: user }
      : await make(trial, resource, new Map(), undefined);
  return { target: planted, caller, ids: new Map([[resource, planted.document.id]]) };
}

/** Makes the documents of a chain that leads to the one of a statement. */
async function leadTo(trial: Trial, base: Scene, chain: readonly Resource[]): Promise<Scene> {
  const ids = new Map(base.ids);
  let { caller } = base;
  for (const resource of chain.toReversed()) {
    if (ids.has(resource)) continue;
    const made = await make(trial, resource, ids, caller);
    ids.set(resource, made.planted.document.id);
    ({ caller } = made);
  }
  return { ...base, caller, ids };
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
  const senders = world.callers.filter(({ name }) => name !== "key");
  const users = senders.filter(({ viewer }) => viewer.user !== undefined);
  for (const caller of [...(by ? [by] : []), ...users, ...senders]) {
    await world.makeRoom(resource, caller.viewer.user?.id ?? "ada");
    const body = sampleOf(trial, caller, { resource, ids, round: 1 });
    const { json } = await sender.send(caller, { method: "POST", path: resource.path, body });
    const id: unknown = Reflect.get(Object(json), "id");
    const document = typeof id === "string" ? await documents.get(id) : undefined;
    if (document) return { caller, planted: { resource, document } };
  }
  const references = sampleOf(trial, undefined, { resource, ids, round: 1 });
  const related = Object.entries(references).filter(([field]) => refersTo(trial, resource, field));
  const planted = await world.plant(resource, "ada", Object.fromEntries(related));
  return { caller: by ?? users[0] ?? world.callers[0], planted };
}

/** Returns the body that creates a document which refers to those of a scene. */
function sampleOf(
  trial: Trial,
  caller: Caller | undefined,
  { ids, round, ...subject }: Subject & { readonly ids: Scene["ids"]; readonly round: number },
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
