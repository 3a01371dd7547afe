import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { run } from "../../src/new/run-program.ts";
import { temporaryFolder } from "./project-world.ts";

const main = join(import.meta.dirname, "../../src/main.ts");

/** A server that npm takes for its registry. */
async function registry(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Starts `fetchwork` as the leader of a group of processes, as a terminal does. */
function start(cwd: string, args: readonly string[], address: string) {
  const child = spawn(process.execPath, ["--conditions=@fetchwork/source", main, ...args], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      HOME: cwd,
      npm_config_registry: address,
      npm_config_cache: join(cwd, ".npm"),
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const { pid } = child;
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (pid !== undefined) process.kill(-pid, signal);
    } catch {
      // The whole group has ended.
    }
  };
  onTestFinished(() => kill("SIGKILL"));
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text));
  child.stdout.resume();
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, stderr }));
  return { ended, kill };
}

describe("Ctrl-C while packages are installed", () => {
  it.each([
    ["shop", "Continue with: cd shop && npm install\n"],
    ["my shop", "Continue with: cd 'my shop' && npm install\n"],
    [".", "Continue with: npm install\n"],
  ])("in %j exits 130 and says how to continue", async (target, hint) => {
    const folder = join(await temporaryFolder(), "here");
    await mkdir(folder);
    const server = createServer(() => {});
    const asked = once(server, "request");
    const options = ["--packages", "registry", "--skip-git", "--yes", "--name", "shop"];
    const command = start(folder, ["new", target, ...options], await registry(server));
    await asked;
    command.kill("SIGINT");
    const { code, stderr } = await command.ended;
    expect([code, stderr]).toEqual([130, expect.stringMatching(/^Installing packages\n/)]);
    expect(stderr).toContain("fetchwork new: interrupted: the project was created");
    expect(stderr.endsWith(hint)).toBe(true);
    expect(await readdir(join(folder, target))).toContain("package.json");
  });
});

describe("an installation that fails", () => {
  it("prints npm's error without the warnings that npx has already printed", async () => {
    const folder = await temporaryFolder();
    // Each npm warns about an option that it does not know.
    await writeFile(join(folder, ".npmrc"), "nodedir=/nowhere\n");
    const server = createServer((_, response) => void response.writeHead(404).end("{}"));
    const options = ["--packages", "registry", "--skip-git", "--yes"];
    const command = start(folder, ["new", "shop", ...options], await registry(server));
    const { code, stderr } = await command.ended;
    expect(code).toBe(1);
    expect(stderr).toContain("npm error code E404");
    expect(stderr).not.toContain("npm warn");
  });
});

describe("run()", () => {
  it("waits until a stopped program has exited", async () => {
    const folder = await temporaryFolder();
    const script = join(folder, "script.mjs");
    await writeFile(
      script,
      `import { writeFileSync } from "node:fs";
      process.on("SIGTERM", () => setTimeout(() => { writeFileSync("last", ""); process.exit(); }, 300));
      setInterval(() => {}, 1000);
      writeFileSync("ready", "");`,
    );
    const stop = new AbortController();
    const ended = run(process.execPath, [script], { cwd: folder, signal: stop.signal });
    await expect.poll(() => readdir(folder)).toContain("ready");
    stop.abort();
    await expect(ended).rejects.toThrow("aborted");
    expect(await readdir(folder)).toContain("last");
  });

  it("rejects for a missing program and for an aborted signal", async () => {
    const cwd = await temporaryFolder();
    const { signal } = new AbortController();
    await expect(run("no-such-program", [], { cwd, signal })).rejects.toThrow("ENOENT");
    const stopped = AbortSignal.abort(new Error("stop"));
    await expect(run("node", [], { cwd, signal: stopped })).rejects.toThrow("stop");
  });
});
