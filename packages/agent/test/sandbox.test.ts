import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { createSandbox, type SandboxLevel } from "../src/verify/sandbox.ts";

const best = (await createSandbox()).level;
const levels: readonly SandboxLevel[] =
  best === "namespace" ? ["process", "namespace"] : ["process"];
const script = (code: string): readonly string[] => [process.execPath, "-e", code];
const cwd = tmpdir();

describe.each(levels)("%s", (level) => {
  it("gives the exit status and what was said", async () => {
    const sandbox = await createSandbox({ level });
    const result = await sandbox.exec(
      script("console.log('out'); console.error('err'); process.exit(3)"),
      { cwd },
    );
    expect(result).toMatchObject({ code: 3, stdout: "out\n", stderr: "err\n", timedOut: false });
  });

  it("lets a server and its client talk on the loopback", async () => {
    const sandbox = await createSandbox({ level });
    const code =
      "const s = require('http').createServer((q, r) => r.end('hi')).listen(0, '127.0.0.1', async () => { console.log(await (await fetch('http://127.0.0.1:' + s.address().port)).text()); s.close(); s.closeAllConnections() })";
    expect(await sandbox.exec(script(code), { cwd })).toMatchObject({ code: 0, stdout: "hi\n" });
  });

  it("hides the environment", async () => {
    process.env["AGENT_TEST_SECRET"] = "hidden";
    const sandbox = await createSandbox({ level });
    const { stdout } = await sandbox.exec(script("console.log(JSON.stringify(process.env))"), {
      cwd,
    });
    delete process.env["AGENT_TEST_SECRET"];
    expect(stdout).not.toContain("hidden");
    expect(stdout).toContain("PATH");
  });

  it("ends what takes too long, with its children", async () => {
    const sandbox = await createSandbox({ level, timeout: 500 });
    const code =
      "require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' }); setInterval(() => {}, 1000)";
    const result = await sandbox.exec(script(code), { cwd });
    expect(result).toMatchObject({ code: null, timedOut: true });
  });

  it("does not wait for a child that leaves the group and holds the output", async () => {
    const sandbox = await createSandbox({ level, timeout: 20_000 });
    const code =
      "console.log('out'); require('child_process').spawn('sleep', ['30'], { detached: true, stdio: 'inherit' }).unref(); process.exit(0)";
    const result = await sandbox.exec(script(code), { cwd });
    expect(result).toMatchObject({ code: 0, stdout: "out\n", timedOut: false });
  });

  it("limits memory and output", async () => {
    const sandbox = await createSandbox({ level, memory: 64 });
    const hungry = await sandbox.exec(
      script("const a = []; for (;;) a.push(new Array(1e5).fill(a.length))"),
      { cwd },
    );
    expect(hungry.code).not.toBe(0);
    const loud = await sandbox.exec(
      script("for (let i = 0; i < 40; i++) console.log('x'.repeat(1e5))"),
      { cwd },
    );
    expect(loud.stdout.length).toBe(1024 * 1024);
  });

  it("says when a command does not exist", async () => {
    const sandbox = await createSandbox({ level });
    expect((await sandbox.exec(["no-such-command-here"], { cwd })).code).not.toBe(0);
  });
});

it.skipIf(best !== "namespace" && process.env["CI"] !== "true")(
  "has no network in a name space",
  async () => {
    const server = createServer((_, response) => response.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const code = `fetch('http://127.0.0.1:${port}').then(() => console.log('reached'), () => console.log('cut off'))`;
    try {
      const inside = await (
        await createSandbox({ level: "namespace" })
      ).exec(script(code), { cwd });
      expect(inside.stdout).toBe("cut off\n");
      const outside = await (await createSandbox({ level: "process" })).exec(script(code), { cwd });
      expect(outside.stdout).toBe("reached\n");
    } finally {
      server.close();
    }
  },
);
