import type { ShownRequest } from "../finding.ts";
import { bodyFor, pathsFor, type Snapshot, snapshot } from "./try-own-routes.ts";
import type { Trial } from "./trial.ts";

/** Repeats what clients may repeat, POST under the same `Idempotency-Key`, and PUT and DELETE as they are: nothing else may change. */
export async function tryRepetitions(trial: Trial): Promise<void> {
  const { findings, sender, world } = trial;
  const routes = world.ownRoutes.filter(({ method }) => ["DELETE", "POST", "PUT"].includes(method));
  for (const route of routes) {
    for (const caller of world.callers.filter(({ name }) => name !== "key")) {
      const target = { route, owner: caller.viewer.user?.id ?? "ada" };
      const [path = route.path] = pathsFor(trial, target);
      const body = bodyFor(trial, target);
      const idempotencyKey = `repetition-${sender.requests}-of-this-request`;
      const request: ShownRequest = {
        method: route.method,
        path,
        ...(body === undefined ? {} : { body }),
        ...(route.method === "POST" ? { idempotencyKey } : {}),
      };
      const before = await snapshot(trial);
      await sender.send(caller, request);
      const once = await snapshot(trial);
      const { status } = await sender.send(caller, request);
      const twice = await snapshot(trial);
      const [changed] = [...twice, ...once].filter(
        ([key]) => textOf(once, key) !== textOf(twice, key),
      );
      await restore(trial, before, twice);
      if (changed === undefined) continue;
      const found = { resource: changed[1].resource.name, caller: caller.name };
      findings.add({ code: "repeated-effect", ...found, way: route.operation, request, status });
    }
  }
}

/** A document without what every change sets. */
function textOf(documents: Snapshot, key: string): string | undefined {
  const document = documents.get(key)?.document;
  return document && JSON.stringify({ ...document, version: 0, updatedAt: "" });
}

/** Puts all documents back as they were. */
async function restore({ world }: Trial, before: Snapshot, after: Snapshot): Promise<void> {
  for (const [key, { document, resource }] of after) {
    const documents = world.store.collection(resource.collection);
    if (!before.has(key)) await documents.remove(document.id);
  }
  for (const [key, { document, resource }] of before) {
    if (textOf(after, key) === textOf(before, key)) continue;
    const { id, version: _version, createdAt: _created, updatedAt: _updated, ...fields } = document;
    const documents = world.store.collection(resource.collection);
    if (after.has(key)) await documents.replace(id, fields);
    else await documents.insert(fields, { id });
  }
}
