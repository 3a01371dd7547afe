// Measures the start of the bundled blog to its first response, against Express and a bare server
// of Node.
//
//   npm run service -- [rounds]          (Linux; it bundles the blog first, which takes seconds)
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { hashPassword } from "../blog/peers/password.mjs";
import { servers, userPassword } from "../blog/servers.mjs";
import { start } from "../blog/start.mjs";
import { residentMemory } from "../harness/cpu-time.mjs";
import { Part } from "../harness/part.ts";

const part = new Part("service");
part.uses("express", "zod", "jsonwebtoken", "helmet", "cors", "compression");
const folder = mkdtempSync(path.join(os.tmpdir(), "bench-service-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const peers = {
  fetchwork: { ...servers.fetchwork, nodeOptions: [], script: bundle() },
  express: servers.express,
  "node:http": { ...servers.express, script: path.join(import.meta.dirname, "bare-peer.mjs") },
};
const secrets = {
  masterKey: randomBytes(24).toString("hex"),
  jwtSecret: randomBytes(24).toString("hex"),
  passwordHash: await hashPassword(userPassword),
};
const figures = {
  "start to first response": ["ms", ({ startTime }) => startTime],
  "CPU of the start": ["ms", ({ startCpu }) => startCpu],
  "memory after the start": ["MiB", ({ pid }) => residentMemory(pid)],
};
const names = Object.keys(peers);
const samples = Object.keys(figures).map((work) => [
  work,
  new Map(names.map((name) => [name, []])),
]);
await part.sample({ names, measure, seconds: 90, least: 15, warmUp: 2 });
for (const [work, values] of samples) {
  part.add({ group: "Bundled, on SQLite", work, unit: figures[work][0] }, values);
}
part.close();

async function measure(name, { isWarmUp }) {
  const own = mkdtempSync(path.join(folder, "run-"));
  const databaseUrl = `sqlite:${path.join(own, "blog.db")}`;
  const running = await start(name, peers[name], { folder: own, databaseUrl, secrets });
  if (!isWarmUp) {
    for (const [work, values] of samples) {
      values.get(name).push({ value: figures[work][1](running) });
    }
  }
  await running.stop();
  rmSync(own, { recursive: true });
  return { value: running.startCpu };
}

/** Bundles the blog, and returns the file of it in a folder with nothing else. */
function bundle() {
  const blog = path.join(import.meta.dirname, "../../examples/blog");
  const bin = path.join(blog, "../../packages/service/bin/fetchwork-service.mjs");
  execFileSync(process.execPath, ["--conditions=@fetchwork/source", bin, "build"], { cwd: blog });
  const copy = path.join(folder, "blog");
  mkdirSync(copy);
  cpSync(path.join(blog, "dist"), path.join(copy, "dist"), { recursive: true });
  cpSync(path.join(blog, "package.json"), path.join(copy, "package.json"));
  return path.join(copy, "dist/index.js");
}
