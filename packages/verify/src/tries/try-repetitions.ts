import { snapshot, textOf, undo } from "../world/snapshot.ts";
import { requestTo } from "./try-own-routes.ts";
import type { Trial } from "./trial.ts";

/** Repeats PUT, DELETE, and POST under its `Idempotency-Key`: a repetition may change nothing. */
export async function tryRepetitions(trial: Trial): Promise<void> {
  const { sender, world } = trial;
  const routes = world.ownRoutes.filter(({ method }) => ["DELETE", "POST", "PUT"].includes(method));
  for (const route of routes) {
    for (const caller of world.callers.filter(({ name }) => name !== "key")) {
      const plain = requestTo(trial, { route, owner: caller.viewer.user?.id ?? "ada" });
      const idempotencyKey = `repetition-${sender.requests}-of-this-request`;
      const request = route.method === "POST" ? { ...plain, idempotencyKey } : plain;
      const { result, after: twice } = await undo(world, async () => {
        await sender.send(caller, request);
        const once = await snapshot(world);
        return { once, response: await sender.send(caller, request) };
      });
      const { response, once } = result;
      const [changed] = [...twice, ...once].filter(
        ([key]) => textOf(once, key) !== textOf(twice, key),
      );
      if (changed === undefined) continue;
      const found = { resource: changed[1].resource, way: route.operation, response };
      trial.findings.report("repeated-effect", caller, found);
    }
  }
}
