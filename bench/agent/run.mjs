// Measures the agent.
//
//   npm run agent -- [rounds] [tasks] [files|tasks]
//
// Runs the sources with the pinned Node. Files: a scripted model in another process that answers after one second; the CPU
// time is that of the process that writes. In the last row the answers come from memory, so it is that of our own code. Tasks: each server in a process of its own, 32 connections, CPU time of that
// process per request; ours keeps each task on the disk before it answers, the SDK keeps them in memory.
import { fork, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { load, requestText } from "../load.mjs";

const here = import.meta.dirname;
const condition = "--conditions=@fetchwork/source";
if (!process.execArgv.includes(condition)) {
  // The machine's own may be too old for the sources.
  const pinned = join(here, "../../node_modules/node/bin/node");
  const execPath = existsSync(pinned) ? pinned : process.execPath;
  const options = { execPath, execArgv: [condition] };
  const again = fork(process.argv[1], process.argv.slice(2), options);
  const pass = (signal) => process.on(signal, () => again.kill(signal));
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) pass(signal);
  const [code] = await once(again, "exit");
  process.exit(code ?? 1);
}

// Every process that is started here ends with this one, however it ends, and no measurement takes for ever.
const children = new Set();
const child = (started) => {
  children.add(started);
  started.once("exit", (code, signal) => {
    if (!children.delete(started)) return;
    console.error(`a process of the measurement ended by itself: ${code ?? signal}`);
    process.exit(1);
  });
  return started;
};
const end = (started) => {
  children.delete(started);
  started.kill("SIGKILL");
};
process.on("exit", () => {
  for (const started of children) started.kill("SIGKILL");
});
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(signal, () => process.exit(1));
// The first process may have been killed without a word.
process.on("disconnect", () => process.exit(1));
const longest = 15 * 60_000;
setTimeout(() => {
  console.error(`not done after ${longest / 60_000} minutes`);
  process.exit(1);
}, longest).unref();

const { createAgent, openAICompatible } = await import("../../packages/agent/src/index.ts");
const rounds = Number(process.argv[2] ?? 3);
const tasks = Number(process.argv[3] ?? 10_000);
const folder = mkdtempSync(join(os.tmpdir(), "bench-agent-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const spread = (list, digits = 1) =>
  `${middle(list).toFixed(digits)} (${Math.min(...list).toFixed(digits)} to ${Math.max(...list).toFixed(digits)})`;

console.log(
  `Node ${process.version}, ${os.cpus()[0]?.model}, ${os.cpus().length} cores, load ${os.loadavg()[0].toFixed(1)}, ${rounds} rounds\n`,
);
const only = process.argv[4];
if (only !== "tasks") await measureFiles();
if (only !== "files") await measureTasks();
process.exit();

async function measureFiles() {
  const count = 24;
  const paths = Array.from({ length: count }, (_, index) => `src/part-${index}.js`);
  const source = (path) =>
    `// ${path}\n${Array.from({ length: 60 }, (_, line) => `export const value${line} = ${line};\n`).join("")}`;
  const answers = [
    { match: ["# Plan\n"], tool: null, text: "# Shared dependencies\n", delay: 0 },
    {
      tool: "project_files",
      delay: 0,
      arguments: {
        files: paths.map((path) => ({ path, purpose: "a part", dependsOn: [], exports: [] })),
      },
    },
    ...paths.map((path) => ({
      match: [`Answer with the source of ${path}.`],
      tool: null,
      text: source(path),
    })),
  ];
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify({ answers, delay: 1_000 }));
  const file = join(here, "../../packages/agent/test/model-server.ts");
  const model = child(
    spawn(process.execPath, [condition, file, script], { stdio: ["ignore", "pipe", "inherit"] }),
  );
  const [baseUrl] = await once(createInterface(model.stdout), "line");
  const provider = openAICompatible({ baseUrl, model: "scripted" });
  const memory = {
    id: "memory",
    *generate({ messages, tool }) {
      const said = messages.map(({ content }) => content).join("\n");
      const found = answers.find(
        (answer) =>
          (answer.tool ?? undefined) === tool?.name &&
          (answer.match ?? []).every((part) => said.includes(part)),
      );
      if (tool) {
        const delta = JSON.stringify(found.arguments);
        yield { type: "tool", id: "1", name: tool.name, delta };
      } else yield { type: "text", text: found.text };
      yield { type: "usage", usage: { inputTokens: 1, outputTokens: 1 } };
      yield { type: "finish", reason: tool ? "tool" : "stop" };
    },
  };
  const run = async (concurrency, name, from = provider) => {
    const agent = createAgent({ provider: from, concurrency });
    const started = performance.now();
    const before = process.cpuUsage();
    await agent.run({ prompt: "many files", out: join(folder, name) }).result;
    const { user, system } = process.cpuUsage(before);
    return { time: performance.now() - started, cpu: (user + system) / 1_000 / count };
  };
  await run(8, "warm");
  for (let round = 0; round < 5; round += 1) await run(8, `warm-${round}`, memory);
  const one = [];
  const eight = [];
  const own = [];
  for (let round = 0; round < rounds; round += 1) {
    one.push(await run(1, `one-${round}`));
    eight.push(await run(8, `eight-${round}`));
    own.push(await run(8, `own-${round}`, memory));
  }
  end(model);
  const ratios = one.map(({ time }, index) => time / eight[index].time);
  console.log("| 24 independent files, 1 s for an answer | seconds | CPU ms per file |");
  console.log("| --- | ---: | ---: |");
  const row = (name, list) => {
    const seconds = list.map(({ time }) => time / 1_000);
    const cpu = list.map((entry) => entry.cpu);
    console.log(`| ${name} | ${spread(seconds, 2)} | ${spread(cpu)} |`);
  };
  row("one after another", one);
  row("8 at a time", eight);
  row("8 at a time, answers from memory", own);
  console.log(`\nTimes faster: ${spread(ratios, 2)}\n`);
}

async function start(file, argument) {
  const server = child(fork(join(here, file), [argument], { execArgv: [condition] }));
  const [{ port }] = await once(server, "message");
  const cpu = async () => {
    server.send("cpu");
    const [message] = await once(server, "message");
    return message.cpu.user + message.cpu.system;
  };
  return { port, cpu, end: () => end(server) };
}

async function measureTasks() {
  const peers = [
    [
      "fetchwork, SQLite file",
      "fetchwork-peer.mjs",
      (round) => `sqlite:${folder}/tasks-${round}.db`,
    ],
    ["fetchwork, SQLite in memory", "fetchwork-peer.mjs", () => "sqlite::memory:"],
    ["agent-protocol 1.0.5, memory", "agent-protocol-peer.mjs", () => folder],
  ];
  console.log(`| ${tasks} tasks | work | requests/s | CPU µs/request |`);
  console.log("| --- | --- | ---: | ---: |");
  const results = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, file, argument] of peers) {
      const server = await start(file, argument(round));
      const body = JSON.stringify({ input: "Write a page with a stopwatch" });
      const headers = { "Content-Type": "application/json" };
      const post = requestText("POST", "/ap/v1/agent/tasks", { headers, body });
      const work = async (what, text, amount) => {
        const before = await server.cpu();
        const options = { port: server.port, connections: 32, amount, text };
        try {
          const seconds = await load({ ...options, status: 200 });
          const cpu = ((await server.cpu()) - before) / amount;
          const key = `${String(name)} | ${what}`;
          results.set(key, [...(results.get(key) ?? []), { rate: amount / seconds, cpu }]);
        } catch (error) {
          results.set(`${String(name)} | ${what}`, String(error.message).split("\r\n")[0]);
        }
      };
      await work("POST /agent/tasks", post, tasks);
      const list = await fetch(`http://127.0.0.1:${server.port}/ap/v1/agent/tasks?page_size=10`);
      const { task_id: id } = (await list.json()).tasks[5];
      if (name.startsWith("agent")) {
        await fetch(`http://127.0.0.1:${server.port}/ap/v1/agent/tasks/${id}/steps`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: "{}",
        });
      }
      const path = `/ap/v1/agent/tasks/${id}`;
      await work("GET …/tasks/{id}", requestText("GET", path), tasks);
      await work("GET …/steps", requestText("GET", `${path}/steps`), tasks);
      await work("GET …/tasks, 10 of a page", requestText("GET", "/ap/v1/agent/tasks"), tasks / 10);
      server.end();
    }
  }
  for (const [key, list] of results) {
    const cells =
      typeof list === "string"
        ? `${list} | –`
        : `${spread(
            list.map(({ rate }) => rate),
            0,
          )} | ${spread(
            list.map(({ cpu }) => cpu),
            0,
          )}`;
    console.log(`| ${key} | ${cells} |`);
  }
}
