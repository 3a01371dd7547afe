// One chain of layers in a separate process, without a server: `memory.mjs <chain>`. Told to, it
// handles requests, and says how much CPU time each took, in microseconds.
import { createContext, finishContext, text, wrap } from "@fetchwork/http";
import { ping } from "@fetchwork/middleware";
import { Hono } from "hono";
import { honoApp, tenLayers } from "./layers.mjs";

const [, , chain = "fetchwork", layersText = "0"] = process.argv;
const layers = Number(layersText);
const init = { headers: { origin: "https://example.com", "user-agent": "bench" } };
const request = new Request("http://127.0.0.1/articles?page=2", init);
const response = text("ok");
const contextInit = { peer: "192.0.2.1", ip: "192.0.2.1" };

const makers = {
  fetchwork: () => ours([]),
  "fetchwork, ten layers": () => ours(tenLayers()),
  "fetchwork, pings": () =>
    ours(Array.from({ length: layers }, (_, index) => ping({ path: `/other-${index}` }))),
  hono: () => hono(new Hono().get("*", answer)),
  "hono, the nearest": () => hono(honoApp(answer)),
  "hono, own tag": () => hono(honoApp(answer, { hasEtag: false })),
  // Which has no such middleware: this is how one writes it.
  "hono, pings": () => {
    const app = new Hono();
    for (let index = 0; index < layers; index += 1) {
      const path = `/other-${index}`;
      app.use(async (c, next) => {
        if (c.req.path === path) return c.text("pong");
        await next();
      });
    }
    return hono(app.get("*", answer));
  },
};

const call = makers[chain]();
process.on("message", ({ amount }) => void measure(amount).then((cpu) => process.send(cpu)));
process.on("disconnect", () => process.exit());

function answer(c) {
  return c.body("ok");
}

/** With a context as a server makes one, and its end. */
function ours(all) {
  const handler = wrap(() => response, ...all);
  return async () => {
    const context = createContext(request, contextInit);
    const result = handler(request, context);
    const response = result instanceof Promise ? await result : result;
    finishContext(context, { status: response.status, bytes: 2 });
  };
}

function hono(app) {
  return () => app.fetch(request);
}

async function measure(amount) {
  const before = process.cpuUsage();
  for (let index = 0; index < amount; index += 1) {
    await call();
    // Batches of lines end with the turn of the event loop.
    if (index % 64 === 0) await new Promise(setImmediate);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / amount;
}
