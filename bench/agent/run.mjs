// Measures the agent.
//
//   npm run agent -- [rounds] [tasks] [files|tasks]
//
// Runs the sources. Files: a scripted model in another process that answers after one second; the
// CPU time is that of the process that writes. "From memory" the answers need no model, so it is
// that of our own code. Tasks: each server in a separate process, 32 connections, CPU time of
// that process per request; ours keeps each task on the disk before it answers, the SDK keeps them
// in memory.
import { fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { load, requestText } from "../harness/load.mjs";
import { endWithUs } from "../harness/children.ts";
import { Part } from "../harness/part.ts";

const here = import.meta.dirname;
const condition = "--conditions=@fetchwork/source";
if (!process.execArgv.includes(condition)) {
  const again = fork(process.argv[1], process.argv.slice(2), { execArgv: [condition] });
  endWithUs(again, { mayFail: true });
  const [code] = await once(again, "exit");
  process.exit(code ?? 1);
}

// The first process may have been killed without a word.
process.on("disconnect", () => process.exit(1));

const { createAgent, openAICompatible } = await import("../../packages/agent/src/index.ts");
const part = new Part("agent");
part.uses("agent-protocol");
const [tasksText = part.settings.isQuick ? "3000" : "10000", only] = part.settings.others;
const rounds = part.settings.rounds ?? (part.settings.isQuick ? 1 : 3);
const tasks = Number(tasksText);
const folder = mkdtempSync(join(os.tmpdir(), "bench-agent-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

if (only !== "tasks") await part.attempt("24 files", measureFiles);
if (only !== "files") await part.attempt("the task API", measureTasks);
part.close();

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
  const stdio = ["ignore", "pipe", "inherit"];
  const model = endWithUs(spawn(process.execPath, [condition, file, script], { stdio }));
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
  model.kill("SIGKILL");
  const group = "24 independent files, 1 s for each answer";
  const names = ["8 at a time, answers from memory", "8 at a time", "one after another"];
  const times = [eight, one].map((list) => list.map(({ time }) => ({ value: time / 1_000 })));
  const cpu = [own, eight, one].map((list) => list.map((entry) => ({ value: entry.cpu })));
  const rows = (all, values) => new Map(all.map((name, index) => [name, values[index]]));
  const waiting = names.slice(1);
  part.add({ group, work: "all files", unit: "s", own: waiting }, rows(waiting, times));
  part.add({ group, work: "each file", unit: "CPU ms", own: names }, rows(names, cpu));
}

async function start(file, argument) {
  // The SDK prints the stack of every 500.
  const stdio = ["ignore", "ignore", file.startsWith("fetchwork") ? "inherit" : "ignore", "ipc"];
  const options = { execArgv: [condition], stdio };
  const child = endWithUs(fork(join(here, file), [argument], options));
  const [{ port }] = await once(child, "message");
  const cpu = async () => {
    child.send("cpu");
    const [message] = await once(child, "message");
    return message.cpu.user + message.cpu.system;
  };
  return { port, cpu, end: () => child.kill("SIGKILL") };
}

async function measureTasks() {
  const peers = [
    [
      "fetchwork, SQLite file",
      "fetchwork-peer.mjs",
      (round) => `sqlite:${folder}/tasks-${round}.db`,
    ],
    ["fetchwork, SQLite in memory", "fetchwork-peer.mjs", () => "sqlite::memory:"],
    ["agent-protocol", "agent-protocol-peer.mjs", () => folder],
  ];
  const results = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, file, argument] of peers) {
      const server = await start(file, argument(round));
      const body = JSON.stringify({ input: "Write a page with a stopwatch" });
      const headers = { "Content-Type": "application/json" };
      const post = requestText("POST", "/ap/v1/agent/tasks", { headers, body });
      const work = async (what, text, amount) => {
        const found = results.get(what) ?? new Map();
        results.set(what, found);
        const before = await server.cpu();
        const options = { port: server.port, connections: 32, amount, text };
        try {
          const seconds = await load({ ...options, status: 200 });
          const cpu = ((await server.cpu()) - before) / amount;
          found.set(name, [...(found.get(name) ?? []), { rate: amount / seconds, value: cpu }]);
        } catch (error) {
          found.set(name, String(error.message).split("\r\n")[0].replace("HTTP/1.1 ", ""));
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
  const ours = [peers[0][0], peers[1][0]];
  for (const [work, found] of results) {
    const group = `The task API, ${tasks.toLocaleString("en")} tasks`;
    part.add({ group, work, unit: "CPU µs", own: ours }, found);
  }
}
