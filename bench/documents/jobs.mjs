// Measures @fetchwork/documents/jobs against pg-boss and graphile-worker on the same PostgreSQL, and a table by hand on SQLite.
//
//   npm run documents-jobs -- [rounds]
//
// Each round has every queue in turn, in a process of its own: 64 writers add 2,000 jobs, each durable; then a process runs
// them, ten at a time, until all of them have ended in the database; then 30 jobs are added one by one to the idle queue, and
// the time from the call to the handler is taken, in the same process. The CPU time of the server is that of all its processes.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../packages/documents/test/postgres-server.ts";
import { processTree, startCpuTimer } from "../harness/cpu-time.mjs";

const rounds = Number(process.argv[2] ?? 5);
const perWork = 2000;
const groups = {
  SQLite: ["fetchwork", "fetchwork-keep-0", "sqlite-table"],
  PostgreSQL: ["fetchwork", "fetchwork-keep-0", "pg-boss", "graphile-worker"],
};
const works = ["add", "run", "latency"];
const samples = new Map();

const folder = mkdtempSync(join(tmpdir(), "jobs-"));
const port = await freePort();
const server = await startPostgres(["listen_addresses=127.0.0.1", `port=${port}`]);
try {
  for (let round = 0; round < rounds; round += 1) {
    for (const [group, engines] of Object.entries(groups)) {
      for (const engine of engines.toSorted(() => Math.random() - 0.5)) {
        const url = await newUrl(group, `${engine}-${round}`);
        await measureAll({ group, engine, url });
      }
    }
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}

console.log(`Node ${process.version}, ${rounds} rounds, medians\n`);
console.log("| | added/s | CPU µs | server µs | run/s | CPU µs | server µs | idle latency, ms |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const [group, engines] of Object.entries(groups)) {
  for (const engine of engines) {
    const cell = (work, key, digits) => {
      const all = samples.get([group, engine, work].join()).map((each) => each[key]);
      return all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)].toFixed(digits);
    };
    const rate = (work) => ["value", "cpu", "server"].map((key) => cell(work, key, 0));
    const row = [...rate("add"), ...rate("run"), cell("latency", "value", 1)];
    console.log(`| ${engine}, ${group} | ${row.join(" | ")} |`);
  }
}

async function measureAll(queue) {
  for (const work of works) await measure({ ...queue, work });
}

async function measure({ group, engine, work, url }) {
  const file = new URL("jobs/measure.mjs", import.meta.url);
  const stopTimer = startCpuTimer(() => processTree(server.process.pid));
  const child = fork(file, [work, engine, url], { execArgv: ["--conditions=@fetchwork/source"] });
  const exit = once(child, "exit");
  const [sample] = await Promise.race([
    once(child, "message"),
    exit.then(([code]) => Promise.reject(new Error(`${engine} ${work} ended with ${code}`))),
  ]);
  const all = samples.get([group, engine, work].join()) ?? [];
  samples.set([group, engine, work].join(), [...all, { ...sample, server: stopTimer() / perWork }]);
  await exit;
}

async function newUrl(group, name) {
  if (group === "SQLite") return `sqlite:${join(folder, `${name}.db`)}`;
  const database = new URL((await server.create()).replace("@:", "@localhost:")).pathname;
  return `postgres://postgres@127.0.0.1:${port}${database}`;
}

async function freePort() {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port: free } = listener.address();
  listener.close();
  await once(listener, "close");
  return free;
}
