import type { Resource } from "@fetchwork/rest";
import type { Caller } from "../world/caller.ts";
import { ruleLets } from "../world/rules.ts";
import { report, type Trial } from "./trial.ts";
import { scanOwn, tryUnseen } from "./written.ts";

/** Removes a document of an owner. */
export async function tryRemoval(
  trial: Trial,
  caller: Caller,
  { resource, owner }: { readonly resource: Resource; readonly owner: string },
): Promise<void> {
  const { sender, world } = trial;
  const documents = world.store.collection(resource.collection);
  const { document } = await world.plant(resource, owner);
  const path = `${resource.path}/${document.id}`;
  const place = { resource, document };
  const shown = await sender.send(caller, { method: "GET", path });
  const answer = await sender.send(caller, { method: "DELETE", path });
  const isGone = (await documents.get(document.id)) === undefined;
  if (!isGone) {
    await documents.remove(document.id);
    return;
  }
  const isHookRefused =
    resource.hooks.beforeShow !== undefined &&
    shown.status !== 200 &&
    ruleLets(caller, "show", place) === true;
  if (ruleLets(caller, "remove", place) === false) {
    report(trial, "document-written", caller, { ...place, answer, way: "remove" });
  } else if (isHookRefused) {
    report(trial, "hook-gap", caller, { ...place, answer, way: "remove" });
  }
}

/** A document that was removed is brought back by whom a rule lets, and hooks that refuse to show it refuse that too. */
export async function tryRestoration(
  trial: Trial,
  caller: Caller,
  { resource, owner }: { readonly resource: Resource; readonly owner: string },
): Promise<void> {
  const { sender, world } = trial;
  const documents = world.store.collection(resource.collection);
  const { document } = await world.plant(resource, owner);
  const place = { resource, document };
  await documents.remove(document.id);
  const path = `${resource.path}/${document.id}/restore`;
  const answer = await sender.send(caller, { method: "POST", path });
  const restored = await documents.get(document.id);
  if (restored === undefined) return;
  if (ruleLets(caller, "restore", place) === false) {
    report(trial, "document-written", caller, { ...place, answer, way: "restore" });
  }
  const planted = { resource, document: restored };
  scanOwn(trial, caller, { planted, answer });
  await tryUnseen(trial, caller, { planted, answer, way: "restore" });
  await documents.remove(document.id);
}
