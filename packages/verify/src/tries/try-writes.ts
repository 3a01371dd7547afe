import { isObject } from "@fetchwork/kit";
import type { Fields, Resource } from "@fetchwork/rest";
import { canaryLike } from "../world/canary.ts";
import type { Caller } from "../world/caller.ts";
import { type Planted, requestFor } from "../world/planted.ts";
import { isWritable, ruleLets, type Subject } from "../world/rules.ts";
import type { Answer } from "../world/sender.ts";
import { createdIn, undo } from "../world/snapshot.ts";
import { otherThan } from "./attack-bodies.ts";
import type { Trial } from "./trial.ts";
import { report } from "../world/report.ts";
import { tryRemoval, tryRestoration } from "./try-removals.ts";
import { scanOwn, tryUnseen } from "./written.ts";

/** Writes every field that a caller does not set, in documents of the caller and of others, alone and in bulk. */
export async function tryWrites(trial: Trial): Promise<void> {
  const { callers, service, store } = trial.world;
  // What accounts do with users is theirs.
  for (const resource of service.resources.filter(({ owner }) => owner !== "id")) {
    for (const caller of callers) {
      await tryCreations(trial, caller, resource);
      for (const owner of ["ada", "bob"]) {
        for (const attempt of [tryUpdates, tryRemoval, tryRestoration]) {
          const planted = await trial.world.plant(resource, owner);
          await attempt(trial, caller, planted, owner);
          await store.collection(resource.collection).remove(planted.document.id);
        }
      }
    }
  }
}

/** A value for a field that the caller does not set. */
type Attack = readonly [field: string, value: unknown];

function attacksOn({ world }: Trial, caller: Caller, subject: Subject): readonly Attack[] {
  const { resource } = subject;
  const [planted] = world.garden.of(resource);
  const others = [...(world.hidden.get(resource) ?? []), ...resource.fields];
  const fields = others
    .filter((field) => !isWritable(caller, field, subject))
    .map((field, index): Attack => [field, valueFor(planted?.document, field, index)]);
  const owned = resource.owner === undefined ? [] : [resource.owner];
  return [
    ...fields,
    ...owned.map((owner): Attack => [owner, otherThan(caller.viewer.user?.id)]),
    ["id", "chosen-by-the-caller"],
    ["createdAt", "2001-01-01T00:00:00.000Z"],
  ];
}

function valueFor(document: object | undefined, field: string, index: number): unknown {
  const known: unknown = document && Reflect.get(document, field);
  if (typeof known === "boolean") return !known;
  return isObject(known) || Array.isArray(known) ? known : canaryLike(known ?? "", 900_000 + index);
}

/** What a caller may set of a document of an owner. */
function writable({ world }: Trial, caller: Caller, subject: Subject, owner = "ada"): Fields {
  const sample = Object.entries(world.sample(subject.resource, owner));
  return Object.fromEntries(sample.filter(([field]) => isWritable(caller, field, subject)));
}

async function tryCreations(trial: Trial, caller: Caller, resource: Resource): Promise<void> {
  const { bulkLimit, path } = resource;
  const sample = (): Fields => writable(trial, caller, { resource }, caller.viewer.user?.id);
  const plain = await create(trial, caller, { resource, path, body: sample() });
  const found = { resource, answer: plain.answer, way: "create" };
  if (plain.created.length > 0 && ruleLets(caller, "create", { resource }) === false) {
    report(trial, "document-written", caller, found);
  }
  for (const document of plain.created) scanOwn(trial, caller, { ...found, document });
  for (const attack of attacksOn(trial, caller, { resource })) {
    const [field, value] = attack;
    const ways = [{ way: "create", path, body: { ...sample(), [field]: value } }];
    if (bulkLimit > 0) {
      const body = { operations: [{ op: "create", body: { ...sample(), [field]: value } }] };
      ways.push({ way: "bulk", path: `${path}/bulk`, body });
    }
    for (const { way, ...request } of ways) {
      const { answer, created } = await create(trial, caller, { resource, ...request });
      for (const document of created.filter((one) => isTaken(one, attack))) {
        const about = way === "create" ? undefined : document;
        report(trial, "field-written", caller, { resource, document: about, field, answer, way });
      }
    }
  }
}

/** Sends a creation, and finds and removes what it created. */
async function create(
  { sender, world }: Trial,
  caller: Caller,
  { resource, ...request }: Pick<Resource, "path"> & { resource: Resource; body: Fields },
): Promise<{ readonly answer: Answer; readonly created: readonly Planted["document"][] }> {
  const undone = await undo(world, () => sender.send(caller, { method: "POST", ...request }));
  return { answer: undone.result, created: createdIn(undone, resource) };
}

async function tryUpdates(
  trial: Trial,
  caller: Caller,
  planted: Planted,
  owner: string,
): Promise<void> {
  const { sender, world } = trial;
  const { document, resource } = planted;
  const { id, version } = document;
  const documents = world.store.collection(resource.collection);
  const mayUpdate = ruleLets(caller, "update", planted);
  const body = writable(trial, caller, planted, owner);
  const plain = await sender.send(caller, requestFor("PATCH", planted, body));
  const changed = await documents.get(id);
  const found = { ...planted, answer: plain, way: "update" };
  if (changed?.version !== version && mayUpdate === false) {
    report(trial, "document-written", caller, found);
  }
  if (changed && plain.status === 200) {
    scanOwn(trial, caller, { ...found, document: changed });
    await tryUnseen(trial, caller, { ...found, document: changed });
  }
  if (mayUpdate === true && resource.hooks.beforeUpdate) {
    await tryMethods(trial, caller, planted, plain);
  }
  for (const attack of attacksOn(trial, caller, planted)) {
    const [field, value] = attack;
    const patch = { [field]: value };
    const ways = [
      { way: "update", ...requestFor("PATCH", planted, patch) },
      { way: "replace", ...requestFor("PUT", planted, { ...body, ...patch }) },
    ];
    if (resource.bulkLimit > 0) {
      const operations = [{ op: "patch", id, body: patch }];
      const path = `${resource.path}/bulk`;
      ways.push({ way: "bulk", method: "POST", path, body: { operations } });
    }
    for (const { way, ...request } of ways) {
      const before = await documents.get(id);
      const answer = await sender.send(caller, request);
      const after = await documents.get(id);
      if (before === undefined || after === undefined) continue;
      if (!isTaken(before, attack) && isTaken(after, attack)) {
        report(trial, "field-written", caller, { resource, document: before, field, answer, way });
        await documents.update(id, { [field]: Reflect.get(before, field) });
      }
    }
  }
}

function isTaken(document: object, [field, value]: Attack): boolean {
  return JSON.stringify(Reflect.get(document, field)) === JSON.stringify(value);
}

/** A hook that lets a change pass as PATCH and not as PUT, or the other way around, was asked for one of them only. */
async function tryMethods(
  trial: Trial,
  caller: Caller,
  planted: Planted,
  patched: Answer,
): Promise<void> {
  const { body } = patched.request;
  const put = await trial.sender.send(caller, requestFor("PUT", planted, body));
  const again = await trial.sender.send(caller, requestFor("PATCH", planted, body));
  // A hook that counts changes refuses the one after.
  const [isPatched, isPut, isPatchedAgain] = [patched, put, again].map(
    ({ status }) => status < 400,
  );
  if (isPatched === isPut || isPatched !== isPatchedAgain) return;
  report(trial, "hook-gap", caller, { ...planted, way: "update", answer: put });
}
