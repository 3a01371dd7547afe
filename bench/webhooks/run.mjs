// Measures `Webhooks` against @octokit/webhooks.
//
//   npm run webhooks -- [rounds]          (after `npm run build` in the root; it measures packages/webhooks/dist)
//
// "sockets": each in a separate process, CPU time of that process per delivery, 50 connections.
// "in one process": the web middleware or the method alone, with requests that were made before the
// clock started.
import { fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import * as octokit from "@octokit/webhooks";
import * as ours from "../../packages/webhooks/dist/index.js";
import { github } from "../../packages/webhooks/dist/vendors/index.js";
import { load, requestText } from "../harness/load.mjs";
import { endWithUs } from "../harness/children.ts";
import { Part } from "../harness/part.ts";
import { measureUnverified } from "./unverified.mjs";
import { measureBundles, measureInstall, measureTypes } from "./sizes.mjs";

const part = new Part("webhooks");
part.uses("@octokit/webhooks");
const names = ["ours", "@octokit/webhooks"];
const path = "/api/github/webhooks";
const secret = "mysecret";
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

for (const [name, measure] of Object.entries({
  sockets: measureSockets,
  verifyAndReceive: measureMethods,
  "the web middleware, verified": measureVerified,
  "the web middleware": measureRefusals,
  "the Node middleware": measureNodeRefusals,
  receive: measureReceive,
  "what it costs before it runs": measureBefore,
  "unverified bodies": measureMemory,
})) {
  await part.attempt(name, measure);
}
part.close();

async function measureBefore() {
  const before = { group: "Before it runs", own: ["ours"] };
  const typed = measureTypes(part.settings.isQuick ? 1 : 3);
  part.add({ ...before, work: "type check of 50 handlers", unit: "s" }, typed);
  for (const [work, sizes] of Object.entries({
    ...(await measureBundles()),
    ...measureInstall(),
  })) {
    part.add({ ...before, work, unit: "kB" }, sizes);
  }
}

/** Of ours only: the other has no limit, and would take 2.6 GB. */
async function measureMemory() {
  for (const connections of [12, 100]) {
    const peaks = [];
    for (let round = 0; round < (part.settings.isQuick ? 1 : 3); round += 1) {
      const { peak } = await measureUnverified(connections);
      peaks.push({ value: peak });
    }
    const work = `${connections} connections`;
    const name = { group: "Unverified bodies of 25 MiB, peak of memory", work, unit: "MB" };
    part.add({ ...name, own: ["ours"] }, new Map([["ours", peaks]]));
  }
}

function payload(kibibytes) {
  const item = {
    id: 1,
    login: "octocat",
    url: "https://api.example.com/users/octocat",
    admin: false,
    labels: ["a", "b"],
  };
  const items = [];
  const body = { action: "opened", issue: { number: 1, title: "Bug" }, items };
  while (JSON.stringify(body).length < kibibytes * 1024) items.push({ ...item, id: items.length });
  return JSON.stringify(body);
}

function headersOf(body, signature) {
  const digest = createHmac("sha256", secret).update(body).digest("hex");
  return {
    "content-type": "application/json",
    "x-github-event": "issues",
    "x-github-delivery": "d7b5c9e0-0000-4000-8000-000000000000",
    "x-hub-signature-256": signature ?? `sha256=${digest}`,
  };
}

async function measureSockets() {
  const servers = {};
  for (const name of names) servers[name] = await start(name);
  for (const [size, signature, status] of [
    [1, undefined, 200],
    [8, undefined, 200],
    [100, undefined, 200],
    [100, "sha256=xyz", 400],
  ]) {
    const body = payload(size);
    const text = requestText("POST", path, { headers: headersOf(body, signature), body });
    const amount = size === 100 ? 1_000 : 5_000;
    const group = `Sockets, ${status === 200 ? "verified" : "impossible signature"}`;
    await compare({ group, size, seconds: 10 }, async (name) => {
      const { child, port } = servers[name];
      const before = await cpuOf(child);
      await load({ port, connections: 50, amount, text, status });
      return ((await cpuOf(child)) - before) / amount;
    });
  }
  for (const { child } of Object.values(servers)) child.disconnect();
  for (const { child } of Object.values(servers)) child.kill();
}

function start(name) {
  const child = endWithUs(fork(join(import.meta.dirname, "server.mjs"), [name]));
  return new Promise((done) => child.once("message", ({ port }) => done({ child, port })));
}

function cpuOf(child) {
  return new Promise((done) => {
    child.once("message", ({ cpu }) => done(cpu.user + cpu.system));
    child.send("cpu");
  });
}

function makeBoth() {
  return {
    ours: new ours.Webhooks({ secret, log: quiet, vendor: github }),
    [names[1]]: new octokit.Webhooks({ secret, log: quiet }),
  };
}

async function measureMethods() {
  for (const size of [1, 8, 32, 100]) {
    const both = makeBoth();
    for (const webhooks of Object.values(both)) webhooks.on("issues.opened", () => undefined);
    const body = payload(size);
    const signature = headersOf(body)["x-hub-signature-256"];
    const delivery = { id: "1", name: "issues", payload: body, signature };
    const amount = size === 100 ? 1000 : 5000;
    await compare({ group: "`verifyAndReceive`", size }, (name) =>
      time(amount, () => both[name].verifyAndReceive(delivery)),
    );
  }
}

async function measureRefusals() {
  const handlers = webMiddlewares(makeBoth());
  for (const size of [1, 8, 32, 100]) {
    const body = payload(size);
    const init = { method: "POST", body, headers: headersOf(body, "sha256=xyz") };
    await compare({ group: "Web middleware, impossible signature", size }, (name) =>
      timeWeb(handlers[name], init, 400),
    );
  }
}

async function measureVerified() {
  const both = makeBoth();
  for (const webhooks of Object.values(both)) webhooks.on("issues.opened", () => undefined);
  const handlers = webMiddlewares(both);
  for (const [work, body] of Object.entries({
    "19 bytes": '{"action":"opened"}',
    "7 KiB": payload(7),
    "100 KiB": payload(100),
  })) {
    const init = { method: "POST", body, headers: headersOf(body) };
    await compare({ group: "Web middleware, verified", work }, (name) =>
      timeWeb(handlers[name], init, 200),
    );
  }
}

function webMiddlewares(both) {
  return {
    ours: ours.createWebMiddleware(both.ours),
    [names[1]]: octokit.createWebMiddleware(both[names[1]], { log: quiet }),
  };
}

async function timeWeb(handler, init, status) {
  const requests = Array.from({ length: 625 }, () => new Request(`http://x${path}`, init));
  return time(500, async (index) => {
    const response = await handler(requests[index]);
    if (response.status !== status) throw new Error(String(response.status));
  });
}

/**
 * The Node middleware with a body that a framework has kept, so that nothing of HTTP is in the
 * figure.
 */
async function measureNodeRefusals() {
  const both = makeBoth();
  const handlers = {
    ours: ours.createNodeMiddleware(both.ours),
    [names[1]]: octokit.createNodeMiddleware(both[names[1]], { log: quiet }),
  };
  for (const size of [1, 8, 32, 100]) {
    const body = payload(size);
    const request = { method: "POST", url: path, headers: headersOf(body, "sha256=xyz"), body };
    let status;
    const response = {
      headersSent: false,
      writeHead(code) {
        status = code;
        return this;
      },
      end() {},
    };
    await compare({ group: "Node middleware alone, impossible signature", size }, (name) =>
      time(size > 8 ? 4_000 : 10_000, async () => {
        status = undefined;
        await handlers[name](request, response);
        if (status !== 400) throw new Error(String(status));
      }),
    );
  }
}

async function measureReceive() {
  for (const amount of [1, 10, 100]) {
    const both = makeBoth();
    let calls = 0;
    for (const webhooks of Object.values(both)) {
      for (let index = 0; index < amount; index += 1) {
        webhooks.on(index % 2 ? "issues" : "issues.opened", () => void (calls += 1));
      }
    }
    const event = { id: "1", name: "issues", payload: { action: "opened" } };
    const work = amount === 1 ? "1 handler" : `${amount} handlers`;
    await compare({ group: "`receive`", work }, (name) =>
      time(Math.round(200_000 / Math.sqrt(amount)), () => both[name].receive(event)),
    );
    if (calls === 0) throw new Error("nothing was called");
  }
}

/**
 * Microseconds of CPU per call, after a fourth as many, since a full collection also throws away
 * compiled code.
 */
async function time(amount, run) {
  const first = Math.floor(amount / 4);
  for (let index = 0; index < first; index += 1) await run(index);
  const before = process.cpuUsage();
  for (let index = 0; index < amount; index += 1) await run(first + index);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / amount;
}

/** `size` in KiB says what the work is, where none is named. */
async function compare({ group, size, work = `${size} KiB`, seconds = 4 }, measure) {
  const name = { group, work, unit: "CPU µs", own: ["ours"], ...(size !== undefined && { size }) };
  const sampled = async (library) => {
    globalThis.gc?.();
    const value = await measure(library);
    return { value };
  };
  await part.compare(name, { names, measure: sampled, seconds, warmUp: 2, least: 9 });
}
