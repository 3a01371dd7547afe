// @ts-nocheck -- a script, run by hand
// Measures the start of a command to its first response, as medians, next to that of a bare server of Node with SQLite:
//
//   node packages/service/test/project/measure-start.mjs FOLDER PATH COMMAND...   (Linux; in FOLDER, such as /articles)
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

const [cwd = ".", target = "/health", ...command] = process.argv.slice(2);
const rounds = 7;
const bare = `
  const database = new (require("node:sqlite").DatabaseSync)(":memory:");
  require("node:http")
    .createServer((_, response) => response.end(JSON.stringify(database.prepare("SELECT 1").all())))
    .listen(Number(process.env.PORT), "127.0.0.1");`;
const all = { bare: [process.execPath, "-e", bare], command };
const samples = { bare: [], command: [] };
for (let round = 0; round < rounds; round += 1) {
  for (const [name, line] of Object.entries(all)) samples[name].push(await measure(line, round));
}
for (const [name, rows] of Object.entries(samples)) {
  const [time, cpu, memory] = [0, 1, 2].map((column) => {
    return Math.round(rows.map((row) => row[column]).toSorted((a, b) => a - b)[rounds >> 1]);
  });
  console.log(`${name}: ${time} ms, ${cpu} ms of CPU, ${memory} MiB`);
}

async function measure([file, ...args], round) {
  const port = 20_000 + ((process.pid + round) % 20_000);
  const secrets = { MASTER_KEY: "-".repeat(40), JWT_SECRET: "=".repeat(40) };
  const env = {
    ...process.env,
    NODE_ENV: "production",
    ...secrets,
    IP: "127.0.0.1",
    PORT: String(port),
  };
  const startedAt = performance.now();
  const child = spawn(file, args, { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${file} ended with ${child.exitCode}`);
    const response = await fetch(`http://127.0.0.1:${port}${target}`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) break;
    await wait(5);
  }
  const time = performance.now() - startedAt;
  const threads = readdirSync(`/proc/${child.pid}/task`);
  const cpu = threads.map((thread) =>
    Number(readFileSync(`/proc/${child.pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  child.kill("SIGTERM");
  await once(child, "exit");
  const memory = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  return [time, cpu.reduce((sum, one) => sum + one) / 1e6, memory];
}
