import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { expectService, hashInWorker } from "./expect-service.ts";
import { makeProject } from "./make-project.ts";

const bin = path.join(import.meta.dirname, "../../bin/fetchwork-service.mjs");

function build(project: string, ...args: readonly string[]): void {
  // `npx` may need what is set for npm and its certificates.
  const { CI: _ci, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [bin, "build", ...args], {
    cwd: project,
    env,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
}

function emptyFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "service-bundle-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it("the build makes a bundle that runs with nothing but its package.json", async () => {
  const project = await makeProject();
  build(project);
  const folder = emptyFolder();
  cpSync(path.join(project, "dist"), path.join(folder, "dist"), { recursive: true });
  cpSync(path.join(project, "package.json"), path.join(folder, "package.json"));
  // In production, where nothing makes `.env`.
  const secret = { JWT_SECRET: "jwt-secret-jwt-secret-jwt-secret-" };
  const command = [process.execPath, "--enable-source-maps", "dist/index.js"] as const;
  await expectService(folder, command, secret);
  expect(existsSync(path.join(folder, ".env"))).toBe(false);
  expect(existsSync(path.join(folder, "data/notes.db"))).toBe(true);
  const worker = path.join(folder, "dist/argon2-worker.js");
  expect(await hashInWorker(worker)).toMatch(/^[\da-f]{32}$/);
});

it("the build makes a bundle whose errors show their line, and not the whole file", async () => {
  const project = await makeProject({
    app: 'export const app = {}; throw new Error("broken release");',
  });
  build(project);
  const file = path.join(project, "dist/index.js");
  const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain("broken release");
  expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(500);
});

it("the build makes a bundle that runs in production where NODE_ENV is not set", async () => {
  const show = 'console.log("first module:", process.env.NODE_ENV);';
  const project = await makeProject({ app: `${show} export const app = {};` });
  writeFileSync(
    path.join(project, "src/index.ts"),
    'import "./app.ts"; console.log("main:", process.env.NODE_ENV); void import("./app.ts");',
  );
  build(project);
  for (const [mode, environment] of [
    ["production", {}],
    ["production", { NODE_ENV: "" }],
    ["development", { NODE_ENV: "development" }],
  ] as const) {
    const file = path.join(project, "dist/index.js");
    const { stdout } = spawnSync(process.execPath, [file], { env: environment, encoding: "utf8" });
    expect(stdout).toBe(`first module: ${mode}\nmain: ${mode}\n`);
  }
});

it.skipIf(process.platform !== "linux")(
  "the build makes an executable that runs in an empty folder (on Linux)",
  async () => {
    const project = await makeProject();
    build(project, "--executable");
    const folder = emptyFolder();
    cpSync(path.join(project, "dist/notes"), path.join(folder, "notes"));
    await expectService(folder, [path.join(folder, "notes")]);
    expect(existsSync(path.join(folder, "data/notes.db"))).toBe(true);
    expect(existsSync(path.join(folder, ".env"))).toBe(true);
  },
  180_000,
);

it("the build says in one line that rolldown is missing", async () => {
  const project = await makeProject();
  const hook = `import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) {
      return next(name === "rolldown" ? "rolldown-is-not-here" : name, context);
    } });`;
  const { status, stderr } = spawnSync(process.execPath, [bin, "build"], {
    cwd: project,
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` },
    encoding: "utf8",
  });
  const advice = "build needs the package rolldown: npm install --save-dev rolldown";
  expect({ status, stderr }).toEqual({ status: 1, stderr: `fetchwork-service: ${advice}\n` });
  expect(existsSync(path.join(project, "dist"))).toBe(false);
});
