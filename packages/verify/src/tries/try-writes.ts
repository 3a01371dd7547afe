import { isObject } from "@fetchwork/kit";
import type { Fields, Resource } from "@fetchwork/rest";
import { canaryLike } from "../world/canary.ts";
import type { Caller } from "../world/caller.ts";
import type { Planted } from "../world/planted.ts";
import { isWritable, ruleLets } from "../world/rules.ts";
import type { Answer } from "../world/sender.ts";
import { report, type Trial } from "./trial.ts";
import { tryRemoval, tryRestoration } from "./try-removals.ts";
import { scanOwn, tryUnseen } from "./written.ts";

/** Writes every field that a caller does not set, in documents of the caller and of others, alone and in bulk. */
export async function tryWrites(trial: Trial): Promise<void> {
  const { callers, service } = trial.world;
  for (const resource of service.resources) {
    // What accounts do with users is theirs; their fields are changed as those of any other resource.
    const isUsers = resource.owner === "id";
    for (const caller of callers) {
      if (!isUsers) await tryCreations(trial, caller, resource);
      for (const owner of isUsers ? [] : ["ada", "bob"]) {
        await tryUpdates(trial, caller, { resource, owner });
        await tryRemoval(trial, caller, { resource, owner });
        if (resource.softDelete) await tryRestoration(trial, caller, { resource, owner });
      }
    }
  }
}

/** A value for a field that the caller does not set. */
type Attack = readonly [field: string, value: unknown];

function attacksOn(
  { world }: Trial,
  caller: Caller,
  place: { readonly resource: Resource; readonly document?: object },
): readonly Attack[] {
  const { resource } = place;
  const [planted] = world.garden.of(resource);
  const others = [...(world.hidden.get(resource) ?? []), ...resource.fields];
  const fields = others
    .filter((field) => !isWritable(caller, field, place))
    .map((field, index): Attack => [field, valueFor(planted?.document, field, index)]);
  const foreign = caller.viewer.user?.id === "bob" ? "ada" : "bob";
  const isOwned = resource.owner !== undefined && resource.owner !== "id";
  return [
    ...fields,
    ...(isOwned ? [[resource.owner, foreign] as const] : []),
    ["id", "chosen-by-the-caller"],
    ["createdAt", "2001-01-01T00:00:00.000Z"],
  ];
}

function valueFor(document: object | undefined, field: string, index: number): unknown {
  const known: unknown = document && Reflect.get(document, field);
  if (typeof known === "boolean") return !known;
  return isObject(known) || Array.isArray(known) ? known : canaryLike(known ?? "", 900_000 + index);
}

async function tryCreations(trial: Trial, caller: Caller, resource: Resource): Promise<void> {
  const { sender, world } = trial;
  const { path } = resource;
  const sampleFor = (): Fields => {
    const fields = world.sample(resource, caller.viewer.user?.id ?? "ada");
    const own = Object.entries(fields).filter(([field]) => isWritable(caller, field, { resource }));
    return Object.fromEntries(own);
  };
  const plain = await create(trial, resource, () =>
    sender.send(caller, { method: "POST", path, body: sampleFor() }),
  );
  const mayCreate = ruleLets(caller, "create", { resource });
  if (plain.created.length > 0 && mayCreate === false) {
    report(trial, "document-written", caller, { resource, answer: plain.answer, way: "create" });
  }
  for (const document of plain.created) {
    scanOwn(trial, caller, { planted: { resource, document }, answer: plain.answer });
  }
  for (const attack of attacksOn(trial, caller, { resource })) {
    const [field, value] = attack;
    const ways = [{ way: "create", path, body: { ...sampleFor(), [field]: value } }];
    if (resource.bulkLimit > 0) {
      const body = { operations: [{ op: "create", body: { ...sampleFor(), [field]: value } }] };
      ways.push({ way: "bulk", path: `${path}/bulk`, body });
    }
    for (const { way, ...request } of ways) {
      const { answer, created } = await create(trial, resource, () =>
        sender.send(caller, { method: "POST", ...request }),
      );
      for (const document of created) {
        const owned = field !== resource.owner || Reflect.get(document, field) === value;
        if (owned && isTaken(document, attack)) {
          const about = way === "create" ? undefined : document;
          report(trial, "field-written", caller, { resource, document: about, field, answer, way });
        }
      }
    }
  }
}

/** Sends a creation, and finds and removes what it created. */
async function create(
  { world }: Trial,
  { collection }: Resource,
  send: () => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly created: readonly Planted["document"][] }> {
  const documents = world.store.collection(collection);
  const before = new Set((await documents.find({ limit: 1000 })).map(({ id }) => id));
  const answer = await send();
  const created = (await documents.find({ limit: 1000 })).filter(({ id }) => !before.has(id));
  for (const { id } of created) await documents.remove(id);
  return { answer, created };
}

async function tryUpdates(
  trial: Trial,
  caller: Caller,
  { resource, owner }: { readonly resource: Resource; readonly owner: string },
): Promise<void> {
  const { sender, world } = trial;
  const documents = world.store.collection(resource.collection);
  const { document } = await world.plant(resource, owner);
  const path = `${resource.path}/${document.id}`;
  const place = { resource, document };
  const mayUpdate = ruleLets(caller, "update", place);
  const body = Object.fromEntries(
    Object.entries(world.sample(resource, owner)).filter(([field]) =>
      isWritable(caller, field, place),
    ),
  );
  const plain = await sender.send(caller, { method: "PATCH", path, body });
  const changed = await documents.get(document.id);
  if (changed?.version !== document.version && mayUpdate === false) {
    report(trial, "document-written", caller, { ...place, answer: plain, way: "update" });
  }
  if (changed && plain.status === 200) {
    scanOwn(trial, caller, { planted: { resource, document: changed }, answer: plain });
    await tryUnseen(trial, caller, { planted: { resource, document: changed }, answer: plain });
  }
  if (mayUpdate === true && resource.hooks.beforeUpdate) {
    await tryMethods(trial, caller, { planted: place, body, patched: plain });
  }
  for (const attack of attacksOn(trial, caller, place)) {
    const [field, value] = attack;
    const patch = { [field]: value };
    const ways = [
      { way: "update", method: "PATCH", path, body: patch },
      { way: "replace", method: "PUT", path, body: { ...body, ...patch } },
    ];
    if (resource.bulkLimit > 0) {
      const operations = [{ op: "patch", id: document.id, body: patch }];
      ways.push({
        way: "bulk",
        method: "POST",
        path: `${resource.path}/bulk`,
        body: { operations },
      });
    }
    for (const { way, ...request } of ways) {
      const before = await documents.get(document.id);
      const answer = await sender.send(caller, request);
      const after = await documents.get(document.id);
      if (before === undefined || after === undefined) continue;
      if (!isTaken(before, attack) && isTaken(after, attack)) {
        report(trial, "field-written", caller, { resource, document: before, field, answer, way });
        await documents.update(document.id, { [field]: Reflect.get(before, field) });
      }
    }
  }
  await documents.remove(document.id);
}

function isTaken(document: object, [field, value]: Attack): boolean {
  return JSON.stringify(Reflect.get(document, field)) === JSON.stringify(value);
}

/** A hook that lets a change pass as PATCH and not as PUT, or the other way around, was asked for one of them only. */
async function tryMethods(
  trial: Trial,
  caller: Caller,
  {
    planted,
    body,
    patched,
  }: { readonly planted: Planted; readonly body: Fields; readonly patched: Answer },
): Promise<void> {
  const { document, resource } = planted;
  const request = { method: "PUT", path: `${resource.path}/${document.id}`, body };
  const put = await trial.sender.send(caller, request);
  const again = await trial.sender.send(caller, { ...request, method: "PATCH" });
  // A hook that counts changes refuses the one after.
  const [isPatched, isPut, isPatchedAgain] = [patched, put, again].map(
    ({ status }) => status < 400,
  );
  if (isPatched === isPut || isPatched !== isPatchedAgain) return;
  report(trial, "hook-gap", caller, { resource, document, way: "update", answer: put });
}
