import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { makeProject } from "./make-project.ts";

const bin = path.join(import.meta.dirname, "../../bin/fetchwork-service.mjs");

function run(folder: string, ...args: readonly string[]) {
  const env = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  const { status, stderr } = spawnSync(process.execPath, [bin, ...args], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  return { status, stderr };
}

const wrong = [
  [],
  ["docs", "more"],
  ["docs", "--watch", "src"],
  ["docs", "--executable"],
  ["docs", "--if-missing"],
  ["build", "--executable", "--if-missing"],
  ["serve"],
];

it.each(wrong)(
  "fetchwork-service refuses the arguments %j %j %j in one line with the code 2",
  async (...args) => {
    const { status, stderr } = run(await makeProject(), ...args);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/^fetchwork-service: usage: .*\n$/) as string,
    });
  },
);

it("fetchwork-service says how it is used when --help asks", () => {
  const help = spawnSync(process.execPath, [bin, "--help"], { encoding: "utf8" });
  expect(help.status).toBe(0);
  expect(help.stdout).toMatch(/^usage: fetchwork-service dev .*\n$/);
});

it("fetchwork-service reads a .env that begins with the byte order mark of an editor", async () => {
  const folder = await makeProject();
  writeFileSync(path.join(folder, ".env"), "\uFEFFSTRIPE_SECRET=short\n");
  const { status, stderr } = run(folder, "docs");
  expect(status).toBe(1);
  expect(stderr).toContain("STRIPE_SECRET");
});

it("fetchwork-service refuses a folder that has no project, and an option that there is not", async () => {
  const place = path.join(import.meta.dirname, "src/index.ts");
  const stderr = `fetchwork-service: ${place} does not exist: run it in the folder of a project\n`;
  expect(run(import.meta.dirname, "docs")).toEqual({ status: 1, stderr });
  expect(run(await makeProject(), "docs", "--wrong").status).toBe(2);
});

it("fetchwork-service writes the reference without settings in the environment", async () => {
  const folder = await makeProject();
  expect(run(folder, "docs")).toEqual({ status: 0, stderr: "" });
  const document = readFileSync(path.join(folder, "docs/openapi.json"), "utf8");
  expect(document).toContain('"/notes/{id}"');
  expect(document).toContain('"/payments"');
  expect(readFileSync(path.join(folder, "docs/index.html"), "utf8")).toContain("<title>Notes");
});

it("fetchwork-service says in one line that app.ts exports no service", async () => {
  const folder = await makeProject({ app: "export const api = 1;" });
  const { status, stderr } = run(folder, "docs");
  expect(status).toBe(1);
  expect(stderr).toMatch(/^fetchwork-service: .*app\.ts has no export `app`: .*\n$/);
});

it("fetchwork-service makes a bundle only where there is none with build --if-missing", async () => {
  const folder = await makeProject();
  const bundle = path.join(folder, "dist/index.js");
  expect(run(folder, "build", "--if-missing")).toEqual({ status: 0, stderr: "" });
  expect(readFileSync(bundle, "utf8")).toContain("runService");
  writeFileSync(bundle, "// Another bundle.");
  expect(run(folder, "build", "--if-missing")).toEqual({ status: 0, stderr: "" });
  expect(readFileSync(bundle, "utf8")).toBe("// Another bundle.");
});
