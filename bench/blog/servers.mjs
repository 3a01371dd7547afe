// Starts each server under test as a process of its own, on the same Node, with an empty folder for its documents.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const here = import.meta.dirname;
const blog = path.join(here, "../../examples/blog/src/index.ts");
const secret = randomBytes(24).toString("hex");
const masterKey = randomBytes(24).toString("hex");

/** Article number `n`, of about 300 bytes. */
export function article(n) {
  return { title: `Article number ${n}`, content: `Some text about ${n}. `.repeat(12).trim() };
}

export const servers = {
  fetchwork: {
    script: ["--conditions=@fetchwork/source", blog],
    environment: (folder) => ({
      IP: "127.0.0.1",
      MASTER_KEY: masterKey,
      JWT_SECRET: secret,
      DATABASE_URL: `sqlite:${path.join(folder, "blog.db")}`,
      // The peers log nothing.
      LOG: "off",
    }),
    signIn,
  },
  express: {
    script: [path.join(here, "express-peer.mjs")],
    environment: (folder) => ({ DATABASE: path.join(folder, "blog.db"), JWT_SECRET: secret }),
  },
  "json-server": {
    script: [path.join(here, "json-server-peer.mjs")],
    environment(folder, documents) {
      const database = path.join(folder, "db.json");
      const articles = Array.from({ length: documents }, (_, n) => ({ id: n + 1, ...article(n) }));
      writeFileSync(database, JSON.stringify({ articles }));
      return { DATABASE: database };
    },
    listQuery: "_page=2&_limit=30&_sort=id&_order=desc",
    seeded: true,
  },
};

/** What `npm start` sets for the blog, and here for all. */
const settings = {
  NODE_ENV: "production",
  MALLOC_ARENA_MAX: "1",
  NODE_OPTIONS: "--max-semi-space-size=4",
  NODE_COMPILE_CACHE: path.join(tmpdir(), "bench-compile-cache"),
};

/** Starts a server; resolves when it answers. */
export async function start(name, documents) {
  const { script, environment, signIn } = servers[name];
  const folder = mkdtempSync(path.join(tmpdir(), "bench-"));
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, script, {
    env: { ...process.env, ...settings, PORT: String(port), ...environment(folder, documents) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  const origin = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`${name} ended: ${Buffer.concat(output).toString()}`);
    const answer = await fetch(`${origin}/articles?limit=1`).catch(() => undefined);
    if (answer?.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const startTime = performance.now() - startedAt;
  const printed = /token (\S+)/.exec(String(Buffer.concat(output)))?.[1];
  const token = signIn ? await signIn(origin) : printed;
  return {
    name,
    origin,
    port,
    pid: child.pid,
    token,
    startTime,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function signIn(origin) {
  const form = (fields) => ({ method: "POST", body: new URLSearchParams(fields) });
  await fetch(
    `${origin}/users`,
    form({ email: "bench@example.com", password: "123456", access_token: masterKey }),
  );
  const authorization = `Basic ${btoa("bench@example.com:123456")}`;
  const session = await fetch(`${origin}/auth`, {
    ...form({ access_token: masterKey }),
    headers: { authorization },
  });
  return (await session.json()).token;
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
