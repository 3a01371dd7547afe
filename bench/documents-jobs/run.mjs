// Measures @fetchwork/documents/jobs against pg-boss and graphile-worker on the same PostgreSQL,
// and a table by hand on SQLite.
//
//   npm run documents-jobs -- [rounds]
//
// Each round has every queue in turn, in a separate process: 64 writers add 2,000 jobs, each
// durable; then a process runs them, ten at a time, until all of them have ended in the database;
// then 30 jobs are added one by one to the idle queue, and the time from the call to the handler is
// taken, in the same process. The CPU time of the server is that of all its processes.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { noPostgres, startPostgres } from "../../packages/documents/test/postgres-server.ts";
import { endWithUs } from "../harness/children.ts";
import { processTree, startCpuTimer } from "../harness/cpu-time.mjs";
import { Part } from "../harness/part.ts";

const perWork = 2000;
const own = ["fetchwork", "fetchwork, keep 0"];
const works = { add: "add, 64 writers", run: "run, ten at a time", latency: "idle queue" };
const cpu = { add: "adding, CPU", run: "running, CPU" };
const serverCpu = { add: "adding, CPU of the server", run: "running, CPU of the server" };
let databases = 0;

const part = new Part("documents-jobs");
part.uses("pg-boss", "graphile-worker");
const folder = mkdtempSync(path.join(tmpdir(), "jobs-"));
try {
  await part.attempt("SQLite", () =>
    compare("SQLite", [...own, "sqlite-table"], { seconds: 80, newUrl: newFile }),
  );
  if (noPostgres === undefined) await part.attempt("PostgreSQL", comparePostgres);
  else part.leaveOut("PostgreSQL", noPostgres);
} finally {
  rmSync(folder, { recursive: true });
}
part.close();

async function comparePostgres() {
  const port = await freePort();
  const server = await startPostgres(["listen_addresses=127.0.0.1", `port=${port}`]);
  const newUrl = async () => {
    const database = new URL((await server.create()).replace("@:", "@localhost:")).pathname;
    return `postgres://postgres@127.0.0.1:${port}${database}`;
  };
  try {
    const names = [...own, "pg-boss", "graphile-worker"];
    await compare("PostgreSQL", names, { seconds: 200, newUrl, server: server.process.pid });
  } finally {
    await server.stop();
  }
}

/** Lets queues do all works in turn, each time in a new database. */
async function compare(group, names, { seconds, newUrl, server }) {
  const taken = { add: new Map(), run: new Map(), latency: new Map() };
  const measure = async (name) => {
    const url = await newUrl();
    let time = 0;
    for (const work of Object.keys(works)) {
      const sample = await measureWork({ work, name, url, server });
      taken[work].set(name, [...(taken[work].get(name) ?? []), sample]);
      time += sample.time ?? 0;
    }
    return { value: time };
  };
  // Each time is that of a new process.
  await part.sample({ names, measure, seconds, warmUp: 0 });
  const add = (work, { heading = works[work], unit }, valueOf) => {
    const rows = names.map((name) => [name, taken[work].get(name).map(valueOf)]);
    part.add({ group, work: heading, unit, own }, new Map(rows));
  };
  for (const work of ["add", "run"]) {
    add(work, { unit: "µs for a job" }, ({ time, rate }) => ({ value: time, rate }));
  }
  for (const [work, heading] of Object.entries(cpu)) {
    add(work, { heading, unit: "CPU µs" }, (sample) => ({ value: sample.cpu }));
  }
  if (server !== undefined) {
    for (const [work, heading] of Object.entries(serverCpu)) {
      add(work, { heading, unit: "CPU µs" }, (sample) => ({ value: sample.server }));
    }
  }
  add("latency", { unit: "ms from the call to the handler" }, ({ latency }) => ({
    value: latency,
  }));
}

async function measureWork({ work, name, url, server }) {
  const stopTimer = server === undefined ? undefined : startCpuTimer(() => processTree(server));
  const engine = name.replace(", ", "-").replace(" ", "-");
  const child = endWithUs(
    fork(path.join(import.meta.dirname, "measure.mjs"), [work, engine, url], {
      execArgv: ["--conditions=@fetchwork/source"],
    }),
  );
  const exit = once(child, "exit");
  const [sample] = await once(child, "message");
  const used = stopTimer === undefined ? {} : { server: stopTimer() / perWork };
  await exit;
  return { ...sample, ...used };
}

function newFile() {
  databases += 1;
  return `sqlite:${path.join(folder, `${databases}.db`)}`;
}

async function freePort() {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address();
  listener.close();
  await once(listener, "close");
  return port;
}
