// Measures the middlewares against Hono, Fastify and Express.
//
//   npm run middleware -- [rounds]
//
// In memory: each chain in a separate process. Over loopback: each server in a process of its
// own, whose CPU time is taken from /proc. All servers answer the same bytes, and write their logs
// nowhere. With "own tag" a peer does not hash the body for its `ETag`, which ours does not either,
// but sets one by hand.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import path from "node:path";
import { endWithUs } from "../harness/children.ts";
import { startCpuTimer } from "../harness/cpu-time.mjs";
import { load, requestText } from "../harness/load.mjs";
import { Part } from "../harness/part.ts";

const part = new Part("middleware");
part.uses("hono", "@hono/node-server", "fastify", "@fastify/helmet", "@fastify/cors");
part.uses(
  "@fastify/compress",
  "@fastify/etag",
  "express",
  "helmet",
  "cors",
  "compression",
  "morgan",
);
const connections = 32;
const here = import.meta.dirname;
const peers = ["fetchwork", "hono", "fastify", "express"];
const browser = { Origin: "https://example.com", "User-Agent": "bench" };
const works = {
  small: {
    work: "ten layers, 150 bytes of JSON",
    names: [...peers, "hono, own tag", "fastify, own tag", "express, own tag"],
    text: requestText("GET", "/articles?page=2", { headers: browser }),
    amount: 10_000,
    seconds: 50,
  },
  large: {
    work: "gzip of 100 KiB of JSON",
    names: peers,
    text: requestText("GET", "/articles", { headers: { "Accept-Encoding": "gzip" } }),
    amount: 400,
    seconds: 40,
  },
};

await compareInMemory("null handler", { fetchwork: "fetchwork", hono: "hono" });
await compareInMemory("ten layers", {
  fetchwork: "fetchwork, ten layers",
  hono: "hono, the nearest",
  "hono, own tag": "hono, own tag",
});
await part.attempt("added layers", () => compareLayers([0, 10, 20, 40, 80]));
for (const [size, settings] of Object.entries(works)) {
  await part.attempt(settings.work, () => compare(size, settings));
}
part.close();

async function compareInMemory(work, chains) {
  const all = Object.entries(chains).map(([name, chain]) => [name, chain, 0]);
  const name = { group: `In memory: ${work}`, work: "each request", unit: "CPU µs" };
  part.add(name, await sampleInMemory(all));
}

/** Of a chain of layers that all pass the request on. */
async function compareLayers(counts) {
  const group = "In memory, layers of `ping`";
  const all = ["fetchwork", "hono"].flatMap((library) =>
    counts.map((layers) => [`${library} ${layers}`, `${library}, pings`, layers]),
  );
  const samples = await sampleInMemory(all);
  for (const size of counts) {
    const rows = ["fetchwork", "hono"].map((library) => [
      library,
      samples.get(`${library} ${size}`),
    ]);
    part.add({ group, work: `${size} layers`, unit: "CPU µs", size }, new Map(rows));
  }
  const of = (library, layers) => samples.get(`${library} ${layers}`).map(({ value }) => value);
  const most = counts.at(-1);
  const each = ["fetchwork", "hono"].map((library) => {
    const none = of(library, 0);
    return [library, of(library, most).map((value, at) => ({ value: (value - none[at]) / most }))];
  });
  part.add({ group, work: "each layer", unit: "CPU µs" }, new Map(each));
}

/** Each of `[name, chain, layers]` in a separate process. */
async function sampleInMemory(chains) {
  const script = path.join(here, "memory.mjs");
  const execArgv = ["--conditions=@fetchwork/source"];
  const children = new Map(
    chains.map(([name, chain, layers]) => [
      name,
      endWithUs(fork(script, [chain, String(layers)], { execArgv })),
    ]),
  );
  const measure = async (name) => {
    const child = children.get(name);
    child.send({ amount: name.startsWith("hono") ? 4_000 : 40_000 });
    const [value] = await once(child, "message");
    return { value };
  };
  const seconds = chains.length > 4 ? 30 : 12;
  const samples = await part.sample({
    names: [...children.keys()],
    measure,
    seconds,
    warmUp: 3,
    least: 7,
  });
  for (const child of children.values()) child.disconnect();
  return samples;
}

async function compare(size, { work, names, text, amount, seconds }) {
  const running = new Map();
  try {
    for (const name of names) running.set(name, await start(name, size));
    const measure = async (name) => {
      const { child, port, bytes } = running.get(name);
      const used = startCpuTimer(() => [child.pid]);
      const time = await load({ port, connections, amount, text, status: 200 });
      return { value: used() / amount, rate: amount / time, more: { "bytes sent": bytes } };
    };
    const name = { group: `Over loopback: ${work}`, work: "each request", unit: "CPU µs" };
    await part.compare(name, { names, measure, seconds, warmUp: 2, least: 7 });
  } finally {
    for (const { child } of running.values()) child.kill("SIGKILL");
  }
}

async function start(name, work) {
  const port = await freePort();
  const [server, variant] = name.split(", ");
  const script = ["--conditions=@fetchwork/source", path.join(here, `${server}-peer.mjs`)];
  const env = { ...process.env, NODE_ENV: "production", PORT: String(port), BODY: work };
  if (variant !== undefined) env.ETAG = "off";
  const child = endWithUs(
    spawn(process.execPath, script, { env, stdio: ["ignore", "ignore", "inherit"] }),
  );
  const headers = { "accept-encoding": work === "large" ? "gzip" : "identity" };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} ended`);
    const answer = await fetch(`http://127.0.0.1:${port}/articles`, { headers }).catch(
      () => undefined,
    );
    if (answer?.ok) {
      const coding = answer.headers.get("content-encoding");
      if ((coding === "gzip") !== (work === "large")) throw new Error(`${name} sends ${coding}`);
      await answer.arrayBuffer();
      return { name, port, child, bytes: await bytesSent(port, works[work].text) };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Bytes of one answer as it goes over the wire, head and all. */
function bytesSent(port, text) {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(text.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
    });
    socket.on("data", (chunk) => (bytes += chunk.length));
    socket.on("end", () => resolve(bytes));
    socket.on("error", reject);
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
    server.on("error", reject);
  });
}
