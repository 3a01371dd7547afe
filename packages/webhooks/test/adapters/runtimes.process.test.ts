import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Webhooks } from "../../src/index.ts";
import { standardScheme } from "../../src/vendors/index.ts";
import { delivery } from "../receivers.ts";

// 350 MB, so no dependencies. `FETCHWORK_RUNTIMES` names a folder with them in `node_modules`; CI
// installs them.
const root = resolve(import.meta.dirname, "../../../..");
const { dependencies } = JSON.parse(
  readFileSync(join(root, "scripts/test-runtimes/runtimes/package.json"), "utf8"),
) as { readonly dependencies: Readonly<Record<string, string>> };
const packages = [
  "@oven/bun-linux-x64",
  "@deno/linux-x64-glibc",
  "@cloudflare/workerd-linux-64",
].map((name) => `${name}@${dependencies[name]}`);
const cache = join(root, "node_modules/.cache/runtimes");
const folder = process.env["FETCHWORK_RUNTIMES"] ?? cache;
const isCI = process.env["CI"] === "true";
const isLinux = process.platform === "linux" && process.arch === "x64";
const isHere = existsSync(join(folder, "node_modules/@oven"));
const source = resolve(import.meta.dirname, "../../src");
const whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const config = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "main", esModule = embed "worker.mjs")], compatibilityDate = "2026-01-01"))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);`;

const app = `
import { createWebMiddleware, Webhooks } from ${JSON.stringify(join(source, "index.ts"))};
import { standardWebhooks } from ${JSON.stringify(join(source, "vendors/index.ts"))};
const create = (options, text) => {
  const webhooks = new Webhooks(options);
  webhooks.onAny(({ payload }) => { if (payload.emoji !== "😀") throw new Error("not the emoji"); });
  return webhooks;
};
let handled = 0;
const slow = new Webhooks({ secret: "mysecret" });
slow.onAny(async () => {
  await new Promise((resolve) => setTimeout(resolve, 300));
  handled += 1;
});
const count = () => new Response(String(handled));
const late = createWebMiddleware(slow, { path: "/late", timeout: 20, fallback: count });
const plain = createWebMiddleware(create({ secret: "mysecret" }), { fallback: late });
export const receive = createWebMiddleware(create({ secret: ${JSON.stringify(whsec)}, vendor: standardWebhooks, replay: true }), { fallback: plain });
`;

// As the README has them: nothing is around the middleware.
const entries: Readonly<Record<string, string>> = {
  bun: `const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: receive }); console.log(server.port);`,
  deno: `Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: ({ port }) => console.log(port) }, receive);`,
  worker: "export default { fetch: receive };",
};

const commands: Readonly<Record<string, readonly [string, ...string[]]>> = {
  bun: ["@oven/bun-linux-x64/bin/bun", "run", "bun.mjs"],
  deno: ["@deno/linux-x64-glibc/deno", "run", "--allow-net=127.0.0.1", "--no-config", "deno.mjs"],
  worker: ["@cloudflare/workerd-linux-64/bin/workerd", "serve", "--control-fd=1", "config.capnp"],
};

const reason = isLinux ? "set FETCHWORK_RUNTIMES to a folder with them" : "for Linux on x64 only";

describe.skipIf(!isLinux || (!isHere && !isCI))(`Bun, Deno and workerd (${reason})`, () => {
  const work = mkdtempSync(join(tmpdir(), "fetchwork-runtimes-"));
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    if (!isHere) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), "{}");
      const install = ["install", "--no-save", "--no-audit", "--no-fund", ...packages];
      const npm = spawnSync("npm", install, { cwd: folder, encoding: "utf8" });
      if (npm.status !== 0) throw new Error(npm.stderr);
    }
    writeFileSync(join(work, "config.capnp"), config);
    for (const [name, entry] of Object.entries(entries)) {
      const build = await rolldown({
        input: "entry",
        resolve: { conditionNames: ["@fetchwork/source", "import"] },
        plugins: [
          {
            name: "entry",
            resolveId: (id) => (id === "entry" ? id : null),
            load: (id) => (id === "entry" ? app + entry : null),
          },
        ],
      });
      await build.write({ file: join(work, `${name}.mjs`), format: "es" });
      await build.close();
    }
  }, 180_000);

  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(work, { recursive: true, force: true });
  });

  async function start(name: string): Promise<string> {
    const [file = "", ...parameters] = commands[name] ?? [];
    const child = spawn(join(folder, "node_modules", file), parameters, { cwd: work });
    children.push(child);
    return new Promise((done, reject) => {
      let errors = "";
      const lines = createInterface({ input: child.stdout });
      child.stderr?.on("data", (chunk) => (errors += String(chunk)));
      lines.on("line", (line) => {
        const port = /"port":\s*(\d+)/.exec(line)?.[1] ?? /^\d+$/.exec(line)?.[0];
        if (port !== undefined) done(`http://127.0.0.1:${port}`);
      });
      child.on("error", reject);
      child.on("close", () => reject(new Error(errors)));
    });
  }

  it.each(["bun", "deno", "worker"])("Runtimes deliver over a socket: %s", async (name) => {
    const origin = await start(name);
    const url = `${origin}/api/vendor/webhooks`;
    const signer = new Webhooks({ secret: "mysecret" });
    const body = '{"emoji":"😀"}';
    const good = await fetch(url, await delivery(signer, body));
    expect([good.status, await good.text()]).toEqual([200, "ok\n"]);
    const wrong = { "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
    expect((await fetch(url, await delivery(signer, body, wrong))).status).toBe(400);
    expect((await fetch(url, await delivery(signer, '{"emoji":"?"}'))).status).toBe(500);

    const key = standardScheme().createKey(whsec);
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = {
      ...(await key.sign({ id: "msg_1", timestamp, body: '{"type":"a","emoji":"😀"}' })),
      "content-type": "application/json",
    };
    const init = { method: "POST", headers, body: '{"type":"a","emoji":"😀"}' };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect((await fetch(`${origin}/webhooks`, init)).status).toBe(200);
    }
  });

  it.each(["bun", "deno", "worker"])(
    "Runtimes finish handlers after a 202 with the middleware as their handler: %s",
    async (name) => {
      const origin = await start(name);
      const signer = new Webhooks({ secret: "mysecret" });
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const response = await fetch(`${origin}/late`, await delivery(signer, "{}"));
        expect(response.status).toBe(202);
      }
      await expect
        .poll(async () => (await fetch(`${origin}/count`)).text(), { timeout: 5_000 })
        .toBe("4");
    },
  );
});
