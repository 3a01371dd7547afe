// Starts a server as a separate process on the same Node; it answers when this resolves.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { endWithUs } from "../harness/children.ts";
import { startCpuTimer } from "../harness/cpu-time.mjs";

/** What `npm start` sets for the blog, and here for all. */
const settings = {
  NODE_ENV: "production",
  MALLOC_ARENA_MAX: "1",
  NODE_COMPILE_CACHE: path.join(tmpdir(), "bench-compile-cache"),
};
const nodeOptions = ["--max-semi-space-size=4", "--disable-warning=ExperimentalWarning"];

/** Longer than any takes, in milliseconds. */
const START_TIME = 60_000;

export async function start(name, server, { databaseUrl, folder, secrets }) {
  const port = await freePort();
  const environment = server.environment?.({ folder, ...secrets });
  const profile = process.env.PROFILE ? profiling(process.env.PROFILE) : [];
  const startedAt = performance.now();
  const child = endWithUs(
    spawn(process.execPath, [...nodeOptions, ...profile, ...server.nodeOptions, server.script], {
      cwd: folder,
      env: {
        ...process.env,
        ...settings,
        PORT: String(port),
        DATABASE_URL: databaseUrl,
        JWT_SECRET: secrets.jwtSecret,
        PASSWORD_HASH: secrets.passwordHash,
        ...environment,
      },
      stdio: ["ignore", "pipe", "inherit"],
    }),
    { mayFail: true },
  );
  const used = startCpuTimer(() => [child.pid]);
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  const origin = `http://127.0.0.1:${port}`;
  for (;;) {
    if (performance.now() - startedAt > START_TIME) throw new Error(`${name} does not answer`);
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${name} ended: ${Buffer.concat(output).toString()}`);
    }
    const answer = await fetch(`${origin}${server.list}`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return {
    name,
    server,
    origin,
    port,
    pid: child.pid,
    startTime: performance.now() - startedAt,
    startCpu: used() / 1000,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill(process.env.PROFILE ? "SIGINT" : "SIGKILL");
      await ended;
    },
  };
}

/** A profile is written when the process ends by itself. */
function profiling(folder) {
  const leave = "process.once('SIGINT',()=>process.exit())";
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--import=data:text/javascript,${leave}`];
}

export async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}
