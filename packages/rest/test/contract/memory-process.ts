import { openStore } from "@fetchwork/documents";
import fc from "fast-check";
import { operationsOf, requestsFor } from "./requests.ts";
import { reset, sendPlan } from "./send.ts";
import { makeWholeApi } from "./whole-api.ts";

const count = 20_000;
const warmUp = 4_000;

const store = await openStore("sqlite::memory:");
const { api, callers } = await makeWholeApi(store);
const plans = operationsOf(api.openApi).flatMap((operation) =>
  fc.sample(requestsFor(operation), { numRuns: 40, seed: 7 }),
);
const sender = { api, callers, ids: new Map<string, string[]>() };

function heap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

let before = 0;
let failures = 0;
for (let index = 0; index < count; index += 1) {
  if (index === warmUp) before = heap();
  if (index % 50 === 0) await reset(sender, store, index / 50);
  const plan = plans[(index * 7_919) % plans.length];
  const answer = plan && (await sendPlan(sender, plan));
  if (answer && answer.response.status >= 500) failures += 1;
}
process.send?.({ growth: heap() - before, failures });
await store.close();
