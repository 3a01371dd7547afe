import type { Fields, Resource } from "@fetchwork/rest";
import { marksIn } from "../world/canary.ts";
import type { Caller } from "../caller.ts";
import { type Planted, requestFor } from "../world/planted.ts";
import { isWritable, ruleLets, type Subject } from "../world/rules.ts";
import type { Outcome } from "../world/sender.ts";
import { createdIn, undo } from "../world/snapshot.ts";
import { fieldsFor } from "./attack-bodies.ts";
import type { Trial } from "./trial.ts";

/** Writes fields that a caller must not set, in documents of both owners, alone and in bulk. */
export async function tryWrites(trial: Trial): Promise<void> {
  const { callers, service } = trial.world;
  // Accounts have their own rules for users.
  for (const resource of service.resources.filter(({ owner }) => owner !== "id")) {
    for (const caller of callers) {
      await tryCreations(trial, caller, resource);
      for (const owner of ["ada", "bob"]) {
        for (const attempt of [tryUpdates, tryRemoval, tryRestoration]) {
          const planted = await trial.world.plant(resource, owner);
          await attempt(trial, caller, planted, owner);
          await trial.world.uproot(planted);
        }
      }
    }
  }
}

/** A value for a field that the caller does not set. */
type Attack = readonly [field: string, value: unknown];

/** Values that a document does not have without the attack. */
function attacksOn(trial: Trial, caller: Caller, subject: Subject, plain?: object): Attack[] {
  const { document = plain, resource } = subject;
  const fields = Object.entries(fieldsFor(trial, resource, document));
  const other = caller.viewer.user?.id === "bob" ? "ada" : "bob";
  return [
    ...fields.filter(([field]) => !isWritable(caller, field, subject)),
    ...(resource.owner === undefined ? [] : [[resource.owner, other] as const]),
    ["id", "chosen-by-the-caller"],
    ["createdAt", "2001-01-01T00:00:00.000Z"],
  ];
}

/** Returns the fields that a caller may set of a document of an owner. */
export function writable({ world }: Trial, caller: Caller, about: Subject, owner = "ada"): Fields {
  const sample = Object.entries(world.sample(about.resource, owner));
  return Object.fromEntries(sample.filter(([field]) => isWritable(caller, field, about)));
}

async function tryCreations(trial: Trial, caller: Caller, resource: Resource): Promise<void> {
  const { bulkLimit, path } = resource;
  const sample = (): Fields => writable(trial, caller, { resource }, caller.viewer.user?.id);
  const plain = await create(trial, caller, { resource, path, body: sample() });
  const found = { resource, response: plain.response, way: "create" };
  if (plain.created.length > 0 && ruleLets(caller, "create", { resource }) === false) {
    trial.findings.report("document-written", caller, found);
  }
  for (const document of plain.created) scanOwn(trial, caller, { ...found, document });
  for (const attack of attacksOn(trial, caller, { resource }, plain.created[0])) {
    const [field, value] = attack;
    const ways = [{ way: "create", path, body: { ...sample(), [field]: value } }];
    if (bulkLimit > 0) {
      const body = { operations: [{ op: "create", body: { ...sample(), [field]: value } }] };
      ways.push({ way: "bulk", path: `${path}/bulk`, body });
    }
    for (const { way, ...request } of ways) {
      const { response, created } = await create(trial, caller, { resource, ...request });
      for (const document of created.filter((one) => isTaken(one, attack))) {
        const about = way === "create" ? undefined : document;
        const found = { resource, document: about, field, response, way };
        trial.findings.report("field-written", caller, found);
      }
    }
  }
}

/** Sends a creation, and finds and removes what it created. */
async function create(
  { sender, world }: Trial,
  caller: Caller,
  { resource, ...request }: Pick<Resource, "path"> & { resource: Resource; body: Fields },
): Promise<{ readonly response: Outcome; readonly created: readonly Planted["document"][] }> {
  const undone = await undo(world, async () => {
    await world.makeRoom(resource, caller.viewer.user?.id ?? "ada");
    return sender.send(caller, { method: "POST", ...request });
  });
  return { response: undone.result, created: createdIn(undone, resource) };
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
  const found = { ...planted, response: plain, way: "update" };
  if (changed?.version !== version && mayUpdate === false) {
    trial.findings.report("document-written", caller, found);
  }
  if (changed && plain.status === 200) {
    await tryShown(trial, caller, { ...found, document: changed });
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
      const response = await sender.send(caller, request);
      const after = await documents.get(id);
      if (before === undefined || after === undefined) continue;
      if (!isTaken(before, attack) && isTaken(after, attack)) {
        const written = { resource, document: before, field, response, way };
        trial.findings.report("field-written", caller, written);
        await documents.update(id, { [field]: Reflect.get(before, field) });
      }
    }
  }
}

/** Whether a document has the value of an attack. */
export function isTaken(document: object | undefined, [field, value]: Attack): boolean {
  return JSON.stringify(Reflect.get(Object(document), field)) === JSON.stringify(value);
}

/** A hook must refuse a change as PATCH and as PUT, or neither. */
async function tryMethods(
  trial: Trial,
  caller: Caller,
  planted: Planted,
  patched: Outcome,
): Promise<void> {
  const { body } = patched.request;
  const put = await trial.sender.send(caller, requestFor("PUT", planted, body));
  const again = await trial.sender.send(caller, requestFor("PATCH", planted, body));
  // A hook that counts changes refuses the one after.
  const [isPatched, isPut, isPatchedAgain] = [patched, put, again].map(
    ({ status }) => status < 400,
  );
  if (isPatched === isPut || isPatched !== isPatchedAgain) return;
  trial.findings.report("hook-gap", caller, { ...planted, way: "update", response: put });
}

/** Removes a document. */
async function tryRemoval(trial: Trial, caller: Caller, planted: Planted): Promise<void> {
  const { sender, world } = trial;
  const { document, resource } = planted;
  const isHidden = await isUnseen(trial, caller, planted);
  const response = await sender.send(caller, requestFor("DELETE", planted));
  if (await world.store.collection(resource.collection).get(document.id)) return;
  if (ruleLets(caller, "remove", planted) === false) {
    trial.findings.report("document-written", caller, { ...planted, response, way: "remove" });
  } else if (isHidden) {
    trial.findings.report("hook-gap", caller, { ...planted, response, way: "remove" });
  }
}

/** Restores a removed document, which a rule or a hook that hides it may have to refuse. */
async function tryRestoration(trial: Trial, caller: Caller, planted: Planted): Promise<void> {
  const { sender, world } = trial;
  const { document, resource } = planted;
  if (!resource.softDelete) return;
  const documents = world.store.collection(resource.collection);
  await documents.remove(document.id);
  const path = `${resource.path}/${document.id}/restore`;
  const response = await sender.send(caller, { method: "POST", path });
  const restored = await documents.get(document.id);
  if (restored === undefined) return;
  const written = { resource, document: restored, response, way: "restore" };
  if (ruleLets(caller, "restore", planted) === false) {
    trial.findings.report("document-written", caller, written);
  }
  await tryShown(trial, caller, written);
}

/** A document as it was written, by which response. */
type Written = Planted & { readonly response: Outcome; readonly way: string };

/** Checks that a change shows no more of a document than its GET does. */
async function tryShown(trial: Trial, caller: Caller, written: Written): Promise<void> {
  scanOwn(trial, caller, written);
  if (await isUnseen(trial, caller, written)) trial.findings.report("hook-gap", caller, written);
}

/** A caller sees of a document that it has written what its view has, and what it has sent. */
function scanOwn(trial: Trial, caller: Caller, written: Written): void {
  const { response, document, resource } = written;
  const sent = new Set(marksIn(response.request.body));
  const shown = new Set(marksIn(response.text));
  const seen = new Set([...resource.views.fieldsOf(document, caller.viewer), resource.owner]);
  for (const [field, value] of Object.entries(document)) {
    const isShown = marksIn(value).some((mark) => shown.has(mark) && !sent.has(mark));
    if (isShown && !seen.has(field)) {
      trial.findings.report("field-read", caller, { ...written, field });
    }
  }
}

/** Whether a hook refuses to show a document: it has to refuse its changes, too. */
async function isUnseen({ sender }: Trial, caller: Caller, planted: Planted): Promise<boolean> {
  if (planted.resource.hooks.beforeShow === undefined) return false;
  if (ruleLets(caller, "show", planted) !== true) return false;
  const { status } = await sender.send(caller, requestFor("GET", planted));
  return status !== 200;
}
