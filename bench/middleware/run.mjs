// Measures the middlewares against Hono, Fastify and Express.
//
//   npm run middleware -- [rounds]
//
// In memory: the best of seven rounds, in a process of its own. Over loopback: each round asks every server in turn, in
// another order each time, and takes the server's CPU time (user and system, from /proc); medians, and ratios round by
// round. All servers answer the same bytes, and write their logs nowhere.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { load, requestText } from "../load.mjs";

const rounds = Number(process.argv[2] ?? 7);
const connections = 32;
const here = import.meta.dirname;
const peers = ["fetchwork", "hono", "fastify", "express"];
const browser = { Origin: "https://example.com", "User-Agent": "bench" };
const works = {
  small: {
    title: "ten layers, 150 bytes of JSON",
    text: requestText("GET", "/articles?page=2", { headers: browser }),
    amount: 20_000,
  },
  large: {
    title: "gzip of 100 KiB of JSON",
    text: requestText("GET", "/articles", { headers: { "Accept-Encoding": "gzip" } }),
    amount: 1_000,
  },
};

console.log(`Node ${process.version}, ${os.cpus()[0].model}, ${os.cpus().length} cores\n`);
reportMemory();
for (const name of Object.keys(works)) await compare(name);

function reportMemory() {
  const script = ["--conditions=@fetchwork/source", path.join(here, "memory.mjs")];
  const measured = JSON.parse(execFileSync(process.execPath, script, { encoding: "utf8" }));
  const { bare, ours, theirs, bareHono, added } = measured;
  console.log("In memory, on one reused request; CPU µs per request\n");
  console.log("| work | null handler | with layers | layers alone |");
  console.log("| --- | ---: | ---: | ---: |");
  const row = (name, bare, all) =>
    console.log(
      `| ${name} | ${bare.toFixed(2)} | ${all.toFixed(2)} | ${(all - bare).toFixed(2)} |`,
    );
  row("fetchwork, ten layers", bare, ours);
  row("hono, the nearest", bareHono, theirs);
  console.log(`\nOurs / theirs: ${(ours / theirs).toFixed(2)}\n`);
  console.log("| layers of `ping` | CPU µs | per layer |\n| ---: | ---: | ---: |");
  for (const { layers, cpu } of added) {
    const each = layers === 0 ? "" : ((cpu - added[0].cpu) / layers).toFixed(3);
    console.log(`| ${layers} | ${cpu.toFixed(2)} | ${each} |`);
  }
}

async function compare(work) {
  const running = [];
  try {
    for (const name of peers) running.push(await start(name, work));
    const samples = [];
    for (let round = 0; round <= rounds; round += 1) {
      for (const server of running.map((_, index) => running[(index + round) % running.length])) {
        const sample = await measure(server, works[work]);
        if (round > 0) samples.push(sample); // Round 0 warms up.
      }
    }
    report(work, running, samples);
  } finally {
    for (const { child } of running) child.kill("SIGKILL");
  }
}

async function measure({ name, port, child }, { text, amount }) {
  const before = cpuTime(child.pid);
  const seconds = await load({ port, connections, amount, text, status: 200 });
  return { name, cpu: ((cpuTime(child.pid) - before) / amount) * 1e6, rate: amount / seconds };
}

function report(work, running, samples) {
  console.log(
    `\nOver loopback: ${works[work].title}; ${connections} connections, ${rounds} rounds, medians\n`,
  );
  console.log(
    "| server | requests/s | CPU µs/request | ours / theirs, CPU (spread) | bytes sent |",
  );
  console.log("| --- | ---: | ---: | ---: | ---: |");
  const of = (name) => samples.filter((sample) => sample.name === name);
  const own = of("fetchwork");
  for (const { name, bytes } of running) {
    const theirs = of(name);
    const ratios = theirs.map((sample, round) => own[round].cpu / sample.cpu);
    const spread = `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
    const rate = Math.round(median(theirs.map((sample) => sample.rate)));
    const cpu = Math.round(median(theirs.map((sample) => sample.cpu)));
    console.log(
      `| ${name} | ${rate} | ${cpu} | ${name === "fetchwork" ? "" : spread} | ${bytes} |`,
    );
  }
}

async function start(name, work) {
  const port = await freePort();
  const script = ["--conditions=@fetchwork/source", path.join(here, `${name}-peer.mjs`)];
  const env = { ...process.env, NODE_ENV: "production", PORT: String(port), BODY: work };
  const child = spawn(process.execPath, script, { env, stdio: ["ignore", "ignore", "inherit"] });
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

/** Seconds of CPU that a process has used; Linux counts in hundredths. */
function cpuTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
