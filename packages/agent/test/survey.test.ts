import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdsSecret, mayBeSecret } from "../src/project/secret-files.ts";
import { surveyOf } from "../src/project/survey.ts";
import { listFiles } from "../src/workspace/list-files.ts";

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "survey-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const survey = async (request: string, maxTokens?: number): Promise<string> =>
  surveyOf(await listFiles(root), { request, maxTokens });

it("holdsSecret and mayBeSecret know keys by their form and by their names", () => {
  const filler = "a1B2c3D4".repeat(6);
  // In parts, so that no scanner takes this file for a leak.
  const texts = [
    ["-----BEGIN RSA", "PRIVATE KEY-----"].join(" "),
    ["-----BEGIN", "PRIVATE KEY-----"].join(" "),
    ["AKI", "AABCDEFGHIJ234567"].join(""),
    ["gh", `p_${filler.slice(0, 36)}`].join(""),
    ["xox", "b-1234567890-abc"].join(""),
    ["sk", "live", filler.slice(0, 24)].join("_"),
    ["sk", "proj", filler].join("-"),
  ];
  expect(texts.filter((text) => !holdsSecret(`const key = "${text}";`))).toEqual([]);
  expect(["task-list", "sk_test_1", "BEGIN PUBLIC KEY", "risk-free"].filter(holdsSecret)).toEqual(
    [],
  );
  expect(mayBeSecret("config/gcp-service-account.json")).toBe(true);
  expect(mayBeSecret("src/service-account.ts")).toBe(false);
});

describe("surveyOf", () => {
  it("names secrets and never shows them", async () => {
    put(".env", "KEY=1\n");
    put(
      "config.js",
      `export const signingKey = "${["sk", "live", "a1B2c3D4a1B2c3D4"].join("_")}";\n`,
    );
    const text = await survey("change the signingKey of config");
    expect(text).toContain("config.js (secret, not shown)");
    expect(text).toContain(".env (secret, not shown)");
    expect(text).not.toContain("_live_");
  });

  it("shows the file that declares what is asked for first, within its tokens", async () => {
    put(
      "src/hono-base.ts",
      `${"// x\n".repeat(500)}export class Hono {\n  route(path: string) {}\n}\n`,
    );
    put("src/hono.ts", 'import { Hono as Base } from "./hono-base";\nexport class Other {}\n');
    for (let number = 0; number < 300; number += 1) {
      put(
        `benchmarks/hono/b${number}.ts`,
        `import { Hono } from "../../src/hono";\nconst app = new Hono();\n`,
      );
      put(`src/middleware/m${number}/index.ts`, `export const m${number} = () => 1;\n`);
    }
    for (const maxTokens of [300, 1_000, undefined]) {
      const text = await survey("Add an option to class Hono", maxTokens);
      expect(Buffer.byteLength(text) / 3.5).toBeLessThanOrEqual(maxTokens ?? 2_000);
      expect(text.split("\n")[1]).toBe("src/hono-base.ts 502 lines".replace("502", "503"));
    }
    const text = await survey("Add an option to class Hono");
    expect(text).toContain("  export class Hono {");
    expect(text).toMatch(/^benchmarks\/ \(300 files\)$/m);
  });

  it.each([
    ["py", "app/store.py", "class Store:\n", "from app.store import Store\n"],
    ["rs", "src/store.rs", "pub struct Other;\n", "use crate::store::thing;\nmod store;\n"],
    ["ts", "src/store.ts", "export const x = 1;\n", 'import { x } from "./store.ts";\n'],
  ])("ranks what many import higher, in %s", async (extension, path, text, line) => {
    for (const name of ["a", "b", "c", "d"]) put(join(dirname(path), `${name}.${extension}`), line);
    put(path, text);
    expect((await survey("improve it")).split("\n")[1]).toMatch(new RegExp(`^${path} `));
  });

  it("takes less than a second of CPU for 2,500 files", async () => {
    const body = "export function one(a: number): number {\n  return a;\n}\n".repeat(100);
    for (let number = 0; number < 2_500; number += 1) {
      put(
        `src/p${number % 50}/f${number}.ts`,
        `import { x } from "./f${number + 50}.ts";\n${body}`,
      );
    }
    const files = await listFiles(root);
    const start = process.cpuUsage();
    await surveyOf(files, { request: "change function one" });
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});
