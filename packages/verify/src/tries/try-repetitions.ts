import type { ShownRequest } from "../finding.ts";
import { restore, snapshot, textOf } from "./snapshot.ts";
import { bodyFor, pathsFor } from "./try-own-routes.ts";
import { report, type Trial } from "./trial.ts";

/** Repeats what clients may repeat, POST under the same `Idempotency-Key`, and PUT and DELETE as they are: nothing else may change. */
export async function tryRepetitions(trial: Trial): Promise<void> {
  const { sender, world } = trial;
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
      const answer = await sender.send(caller, request);
      const twice = await snapshot(trial);
      const [changed] = [...twice, ...once].filter(
        ([key]) => textOf(once, key) !== textOf(twice, key),
      );
      await restore(trial, before, twice);
      if (changed === undefined) continue;
      const { resource } = changed[1];
      report(trial, "repeated-effect", caller, { resource, way: route.operation, answer });
    }
  }
}
