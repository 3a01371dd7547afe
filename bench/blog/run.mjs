// Measures the blog API against the same routes in Express and against json-server.
//
//   npm run blog -- [rounds]
//
// Each round asks every server in turn, in another order each time, and takes wall time and the server's CPU time
// (user and system, from /proc). The table has medians; ratios are ours over theirs, round by round.
import { readFileSync } from "node:fs";
import os from "node:os";
import { load, requestText } from "../load.mjs";
import { article, servers, start } from "./servers.mjs";

const rounds = Number(process.argv[2] ?? 7);
const documents = 10_000;
const connections = 32;

const works = {
  "GET /articles/:id": ({ id }) => ({
    text: requestText("GET", `/articles/${id}`),
    status: 200,
    amount: 20_000,
  }),
  "GET /articles?page=2&limit=30": ({ listQuery, name }) => ({
    text: requestText("GET", `/articles?${listQuery}`),
    status: 200,
    amount: name === "json-server" ? 500 : 10_000,
  }),
  // json-server writes its whole file for each document, so it gets fewer.
  "POST /articles": ({ name, token }) => ({
    ...creation(token),
    amount: name === "json-server" ? 100 : 5_000,
  }),
};

const running = [];
try {
  for (const name of Object.keys(servers)) running.push(await prepare(name));
  const samples = [];
  for (let round = 0; round <= rounds; round += 1) {
    const measured = await measureRound(round);
    if (round > 0) samples.push(...measured); // Round 0 warms up.
  }
  report(samples);
  await reportMemory(running.find(({ name }) => name === "fetchwork"));
} finally {
  for (const server of running) await server.stop();
}

async function prepare(name) {
  const server = await start(name, documents);
  if (!servers[name].seeded) {
    await load({ ...creation(server.token), port: server.port, connections, amount: documents });
  }
  const list = await (await fetch(`${server.origin}/articles?limit=1`)).json();
  return { ...server, id: list[0].id, listQuery: servers[name].listQuery ?? "page=2&limit=30" };
}

function creation(token) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  const body = JSON.stringify(article(1));
  return { text: requestText("POST", "/articles", { headers, body }), status: 201 };
}

async function measureRound(round) {
  const order = running.map((_, index) => running[(index + round) % running.length]);
  const samples = [];
  for (const work of Object.keys(works)) {
    for (const server of order) samples.push(await measure(server, work));
  }
  return samples;
}

async function measure(server, work) {
  const { amount, ...request } = works[work](server);
  const before = cpuTime(server.pid);
  const seconds = await load({ ...request, port: server.port, connections, amount });
  const cpu = ((cpuTime(server.pid) - before) / amount) * 1e6;
  return { name: server.name, work, cpu, rate: amount / seconds };
}

/** Seconds of CPU that a process has used; Linux counts in hundredths. */
function cpuTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function report(samples) {
  console.log(`Node ${process.version}, ${os.cpus()[0].model}, ${os.cpus().length} cores`);
  console.log(`${documents} articles, ${connections} connections, ${rounds} rounds, medians\n`);
  console.log("| work | server | requests/s | CPU µs/request | ours / theirs, CPU (spread) |");
  console.log("| --- | --- | ---: | ---: | ---: |");
  for (const work of Object.keys(works)) {
    const of = (name) => samples.filter((sample) => sample.name === name && sample.work === work);
    const own = of("fetchwork");
    for (const name of Object.keys(servers)) {
      const theirs = of(name);
      const ratios = theirs.map((sample, round) => own[round].cpu / sample.cpu);
      const spread = `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
      const rate = Math.round(median(theirs.map((sample) => sample.rate)));
      const cpu = Math.round(median(theirs.map((sample) => sample.cpu)));
      console.log(
        `| ${work} | ${name} | ${rate} | ${cpu} | ${name === "fetchwork" ? "" : spread} |`,
      );
    }
  }
  console.log("\n| server | start to first answer, ms |\n| --- | ---: |");
  for (const { name, startTime } of running) console.log(`| ${name} | ${Math.round(startTime)} |`);
}

async function reportMemory(server) {
  const { text, status } = works["GET /articles/:id"](server);
  await load({ text, status, port: server.port, connections, amount: 100_000 });
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1];
  console.log(
    `\nResident memory of fetchwork after all this and 100,000 requests more: ${Math.round(resident / 1024)} MiB`,
  );
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
