// Measures layers in memory, without a server: prints JSON with CPU microseconds per request.
//
//   node --conditions=@fetchwork/source middleware/memory.mjs
import { createContext, finishContext, text, wrap } from "@fetchwork/http";
import { ping } from "@fetchwork/middleware";
import { Hono } from "hono";
import { honoApp, tenLayers } from "./layers.mjs";

const requests = 200_000;
const init = { headers: { origin: "https://example.com", "user-agent": "bench" } };
const request = new Request("http://127.0.0.1/articles?page=2", init);
const response = text("ok");
const handler = () => response;
const contextInit = { peer: "192.0.2.1", ip: "192.0.2.1" };

const bare = await measureOurs(wrap(handler));
const ours = await measureOurs(wrap(handler, ...tenLayers()));
const hono = honoApp((c) => c.body("ok"));
const bareHonoApp = new Hono().get("*", (c) => c.body("ok"));
const bareHono = await measure(() => bareHonoApp.fetch(request));
const theirs = await measure(() => hono.fetch(request));
const added = [];
for (const layers of [0, 10, 20, 40, 80]) {
  const others = Array.from({ length: layers }, (_, index) => ping({ path: `/other-${index}` }));
  added.push({ layers, cpu: await measureOurs(wrap(handler, ...others)) });
}
console.log(JSON.stringify({ bare, ours, theirs, bareHono, added }));

/** With a context as a server makes one, and its end. */
async function measureOurs(handler) {
  return measure(async () => {
    const context = createContext(request, contextInit);
    const result = handler(request, context);
    const response = result instanceof Promise ? await result : result;
    finishContext(context, { status: response.status, bytes: 2 });
  });
}

/** The best of seven rounds, in CPU microseconds per call. */
async function measure(call) {
  let best = Infinity;
  for (let round = 0; round < 7; round += 1) {
    const before = process.cpuUsage();
    for (let index = 0; index < requests; index += 1) {
      await call();
      // Batches of lines end with the turn of the event loop.
      if (index % 64 === 0) await new Promise(setImmediate);
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / requests);
  }
  return best;
}
