// Measures `serve` against bare `node:http` and `@hono/node-server`, with a handler and with a Hono
// application.
//
//   npm run http-server -- [rounds]
//
// Each server is a separate process, whose CPU time is taken from /proc. All send the same bytes
// with a Content-Length. What is not kept alive would measure the system.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import path from "node:path";
import { endWithUs } from "../harness/children.ts";
import { startCpuTimer } from "../harness/cpu-time.mjs";
import { load, requestText } from "../harness/load.mjs";
import { Part } from "../harness/part.ts";

const part = new Part("http-server");
part.uses("hono", "@hono/node-server");
const connections = 32;
const amount = 10_000;
const text = requestText("GET", "/articles?page=2", { headers: { "User-Agent": "bench" } });
const works = {
  "a Response of the platform": {
    fetchwork: ["fetchwork, fastResponse", "Response"],
    "fetchwork, globals kept": ["fetchwork", "Response"],
    "node:http": ["node:http", "bare"],
    "node-server": ["node-server", "Response"],
    "node-server, globals kept": ["node-server, globals kept", "Response"],
  },
  "json()": {
    fetchwork: ["fetchwork", "json"],
    "node:http": ["node:http", "bare"],
  },
  "a Hono application": {
    fetchwork: ["fetchwork, fastResponse", "hono"],
    "fetchwork, globals kept": ["fetchwork", "hono"],
    "node-server": ["node-server", "hono"],
    "node-server, globals kept": ["node-server, globals kept", "hono"],
  },
};

for (const [work, servers] of Object.entries(works)) {
  await part.attempt(work, () => compare(work, servers));
}
part.close();

async function compare(work, servers) {
  const running = new Map();
  try {
    for (const [name, server] of Object.entries(servers)) running.set(name, await start(server));
    const measure = async (name) => {
      const { child, port } = running.get(name);
      const used = startCpuTimer(() => [child.pid]);
      const time = await load({ port, connections, amount, text, status: 200 });
      return { value: used() / amount, rate: amount / time };
    };
    const name = { group: "Over loopback, 150 bytes of JSON", work, unit: "CPU µs" };
    const names = [...running.keys()];
    const own = names.filter((each) => each.startsWith("fetchwork"));
    await part.compare({ ...name, own }, { names, measure, seconds: 40, warmUp: 2, least: 7 });
  } finally {
    for (const { child } of running.values()) child.kill("SIGKILL");
  }
}

async function start([server, app]) {
  const port = await freePort();
  const script = path.join(import.meta.dirname, "peer.mjs");
  const env = {
    ...process.env,
    NODE_ENV: "production",
    PORT: String(port),
    SERVER: server,
    APP: app,
  };
  const child = endWithUs(
    spawn(process.execPath, ["--conditions=@fetchwork/source", script], {
      env,
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${server} ended`);
    const response = await fetch(`http://127.0.0.1:${port}/articles`).catch(() => undefined);
    if (response?.ok) {
      const length = response.headers.get("content-length");
      const { byteLength } = await response.arrayBuffer();
      if (length !== String(byteLength)) throw new Error(`${server} says ${length}: ${byteLength}`);
      return { port, child };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
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
