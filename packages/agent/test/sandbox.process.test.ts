import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { nodeTest } from "../src/verify/node-verifiers.ts";
import { createSandbox, type SandboxLevel } from "../src/verify/sandbox.ts";
import { verifyFiles } from "../src/verify/verify-files.ts";

const canSeal = await createSandbox().then(
  () => true,
  () => false,
);
const levels: readonly SandboxLevel[] =
  canSeal || process.env["CI"] === "true" ? ["process", "sealed"] : ["process"];
const script = (code: string): readonly string[] => [process.execPath, "-e", code];
const cwd = mkdtempSync(join(tmpdir(), "sandbox-"));
chmodSync(cwd, 0o777);
afterAll(() => rmSync(cwd, { recursive: true }));

describe.each(levels)("%s", (level) => {
  it("returns the exit status and what was said", async () => {
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
    const sandbox = await createSandbox({ level, timeout: 2_000 });
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

  it.each([
    ["is too long for the system", "x".repeat(200_000)],
    ["has a null character", "a\0b"],
  ])("says when a command %s", async (_, argument) => {
    const sandbox = await createSandbox({ level });
    const result = await sandbox.exec(["echo", argument], { cwd });
    expect(result).toMatchObject({ code: null, stdout: "", timedOut: false });
    expect(result.stderr).toMatch(/E2BIG|null bytes/);
  });

  it("says when a command does not exist", async () => {
    const sandbox = await createSandbox({ level });
    expect((await sandbox.exec(["no-such-command-here"], { cwd })).code).not.toBe(0);
  });
});

it.skipIf(!levels.includes("sealed"))("a program has no network when it is sealed", async () => {
  const server = createServer((_, response) => response.end("reached"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const code = `fetch('http://127.0.0.1:${port}').then(() => console.log('reached'), () => console.log('cut off'))`;
  try {
    const inside = await (await createSandbox({ level: "sealed" })).exec(script(code), { cwd });
    expect(inside.stdout).toBe("cut off\n");
    const outside = await (await createSandbox({ level: "process" })).exec(script(code), { cwd });
    expect(outside.stdout).toBe("reached\n");
  } finally {
    server.close();
  }
});

describe.skipIf(!levels.includes("sealed"))("sealed", () => {
  it("refuses an unknown level", async () => {
    await expect(createSandbox({ level: "namespace" as SandboxLevel })).rejects.toThrow(
      "one of sealed, process",
    );
  });

  it.each(["/", "/usr", "/etc", tmpdir(), homedir()])("refuses to show %s", async (path) => {
    const sandbox = await createSandbox();
    await expect(sandbox.exec(["true"], { cwd: path })).rejects.toMatchObject({
      code: "ERR_AGENT_SANDBOX",
      message: expect.stringContaining("cannot be shown in a sandbox"),
    });
    await expect(sandbox.exec(["true"], { cwd, readOnly: [path] })).rejects.toThrow(
      "cannot be shown",
    );
  });

  it.runIf(process.getuid?.() === 0)("refuses a folder that only root can write", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
    const sandbox = await createSandbox();
    await expect(sandbox.exec(["true"], { cwd: folder })).rejects.toThrow("belongs to root");
    chmodSync(folder, 0o755);
    const shown = await sandbox.exec(["ls"], { cwd: folder, readOnly: [folder] });
    expect(shown.code).toBe(0);
    rmSync(folder, { recursive: true });
  });

  it("runs in a folder whose path has blanks, quotes and signs of the shell", async () => {
    const folder = join(cwd, 'it\'s $(a) \\ "b" *');
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    const sandbox = await createSandbox();
    const { stdout } = await sandbox.exec(["sh", "-c", "echo x > y; pwd"], { cwd: folder });
    expect(stdout).toBe(`${folder}\n`);
    expect(existsSync(join(folder, "y"))).toBe(true);
  });

  it("runs the tests of a project with packages, which they cannot change", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
    const packages = join(folder, "node_modules");
    mkdirSync(join(packages, "dep"), { recursive: true });
    writeFileSync(join(packages, "dep/index.js"), "module.exports = 4;\n");
    const files = new Map([
      ["package.json", '{ "name": "a", "dependencies": { "dep": "1.0.0" } }\n'],
      ["four.js", "module.exports = require('dep');\n"],
      [
        "four.test.js",
        "const fs = require('fs'), assert = require('assert');\n" +
          "require('node:test')('four', () => {\n  assert.equal(require('./four.js'), 4);\n" +
          "  assert.throws(() => fs.writeFileSync('node_modules/dep/x.js', ''), /EROFS/);\n});\n",
      ],
    ]);
    const found = await verifyFiles(files, undefined, {
      verifiers: [nodeTest()],
      sandbox: await createSandbox(),
      signal: new AbortController().signal,
      from: folder,
    });
    expect(found).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it("ends with its signal, and leaves nothing", async () => {
    const sandbox = await createSandbox();
    const late = join(cwd, "late");
    const code = "setsid sh -c 'sleep 3; echo late > late' & touch begun; wait";
    const ended = new AbortController();
    const running = sandbox.exec(["sh", "-c", code], { cwd, signal: ended.signal });
    await expect.poll(() => existsSync(join(cwd, "begun")), { timeout: 20_000 }).toBe(true);
    ended.abort();
    expect(await running).toMatchObject({ code: null, timedOut: false });
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    expect(existsSync(late)).toBe(false);
  });
});
