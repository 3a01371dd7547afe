import type { Caller } from "../world/caller.ts";
import { type Planted, requestFor } from "../world/planted.ts";
import { ruleLets } from "../world/rules.ts";
import type { Trial } from "./trial.ts";
import { report } from "../world/report.ts";
import { scanOwn, tryUnseen } from "./written.ts";

/** Removes a document. */
export async function tryRemoval(trial: Trial, caller: Caller, planted: Planted): Promise<void> {
  const { sender, world } = trial;
  const { document, resource } = planted;
  const shown = await sender.send(caller, requestFor("GET", planted));
  const answer = await sender.send(caller, requestFor("DELETE", planted));
  if (await world.store.collection(resource.collection).get(document.id)) return;
  const isHookRefused =
    resource.hooks.beforeShow !== undefined &&
    shown.status !== 200 &&
    ruleLets(caller, "show", planted) === true;
  if (ruleLets(caller, "remove", planted) === false) {
    report(trial, "document-written", caller, { ...planted, answer, way: "remove" });
  } else if (isHookRefused) {
    report(trial, "hook-gap", caller, { ...planted, answer, way: "remove" });
  }
}

/** A document that was removed is brought back by whom a rule lets, and hooks that refuse to show it refuse that too. */
export async function tryRestoration(
  trial: Trial,
  caller: Caller,
  planted: Planted,
): Promise<void> {
  const { sender, world } = trial;
  const { document, resource } = planted;
  if (!resource.softDelete) return;
  const documents = world.store.collection(resource.collection);
  await documents.remove(document.id);
  const path = `${resource.path}/${document.id}/restore`;
  const answer = await sender.send(caller, { method: "POST", path });
  const restored = await documents.get(document.id);
  if (restored === undefined) return;
  const written = { resource, document: restored, answer, way: "restore" };
  if (ruleLets(caller, "restore", planted) === false) {
    report(trial, "document-written", caller, written);
  }
  scanOwn(trial, caller, written);
  await tryUnseen(trial, caller, written);
}
