// Measures `send` against undici.request, got, axios, ky, ofetch and the built-in fetch.
//
//   npm run http-client -- [rounds] [requests per round] [clients, as in "fetchwork,undici.request"]
//
// Every client runs in a process of its own, the server in another one. Each round asks every client in turn, in another
// order each time, for the same work over 50 connections, and takes that client's CPU time (user and system). Round 0
// warms up. The tables have medians, and ratios of ours to theirs round by round: median, and lowest to highest.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const rounds = Number(process.argv[2] ?? 9);
const amount = Number(process.argv[3] ?? 10_000);
const here = import.meta.dirname;
const all = ["fetchwork", "undici.request", "got", "axios", "ky", "ofetch", "fetch"];
const peers = process.argv[4]?.split(",") ?? all;
const works = { get: "GET of 1 KiB of JSON", post: "POST of 10 KiB" };

const children = [];
try {
  const server = start("server.mjs", []);
  const [port] = await once(server, "message");
  const clients = [];
  for (const name of peers) {
    const child = start("client.mjs", [name, `http://127.0.0.1:${port}/items`]);
    await once(child, "message");
    clients.push({ name, child });
  }
  console.log(
    `Node ${process.version}, ${os.cpus()[0]?.model}, ${os.cpus().length} cores; ${rounds} rounds of ${amount} requests, 50 connections`,
  );
  console.log(versions());
  for (const [work, title] of Object.entries(works)) report(title, await measure(clients, work));
} finally {
  for (const child of children) child.disconnect();
}

function start(script, args) {
  const child = fork(path.join(here, script), args, {
    execArgv: ["--conditions=@fetchwork/source"],
  });
  child.once("exit", (code) => {
    if (code === 0) return;
    console.error(`${script} ${args[0] ?? ""} ended with ${code}`);
    process.exit(1);
  });
  children.push(child);
  return child;
}

/** CPU microseconds and requests per second of every round, by client. */
async function measure(clients, work) {
  const results = new Map(clients.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const turn = round % clients.length;
    for (const { name, child } of [...clients.slice(turn), ...clients.slice(0, turn)]) {
      child.send({ work, amount });
      const [sample] = await once(child, "message");
      if (round > 0) results.get(name).push(sample);
    }
  }
  return results;
}

function report(title, results) {
  const own = results.get("fetchwork");
  console.log(`\n### ${title}\n`);
  console.log("| client | requests/s | CPU µs/request | ours / theirs, CPU (spread) |");
  console.log("| --- | ---: | ---: | ---: |");
  for (const [name, samples] of results) {
    const ratios = samples.map(({ cpu }, round) => own[round].cpu / cpu);
    const spread = `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
    const rate = Math.round(median(samples.map((sample) => sample.rate)));
    const cpu = median(samples.map((sample) => sample.cpu)).toFixed(1);
    console.log(`| ${name} | ${rate} | ${cpu} | ${samples === own ? "" : spread} |`);
  }
}

function versions() {
  const of = (name) => {
    const file = path.join(here, "..", "node_modules", name, "package.json");
    return `${name} ${JSON.parse(readFileSync(file, "utf8")).version}`;
  };
  return ["undici", "got", "axios", "ky", "ofetch"].map(of).join(", ");
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
