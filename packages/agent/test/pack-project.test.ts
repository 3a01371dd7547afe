import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { estimateTokens, packProject } from "../src/project/pack-project.ts";
import { mayBeSecret } from "../src/project/secret-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pack-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const long = `export function run(a, b) {\n${"  work(a, b);\n".repeat(400)}}\n`;

it("has every path, and every file that fits, in the order of their paths", async () => {
  put({ "b.js": "export const b = 1;\n", "a.md": "# A\n", "src/c.css": "p { margin: 0 }" });
  const packed = await packProject(folder);
  expect(packed.text).toBe(
    "# Files\n\n- a.md\n- b.js\n- src/c.css\n\n## a.md\n\n```\n# A\n```\n\n## b.js\n\n```\nexport const b = 1;\n```\n\n## src/c.css\n\n```\np { margin: 0 }\n```\n\n",
  );
  expect(packed).toMatchObject({ whole: ["a.md", "b.js", "src/c.css"], declared: [], omitted: [] });
});

it("shows what a file declares that has no room", async () => {
  put({ "long.js": long, "short.js": "export const a = 1;\n" });
  const { text, whole, declared } = await packProject(folder, { maxTokens: 300 });
  expect([whole, declared]).toEqual([["short.js"], ["long.js"]]);
  expect(text).toContain("## long.js (what it declares)");
  expect(text).toContain("run(a, b)");
  expect(text).not.toContain("work(a, b)");
});

it("names a file that has no room for that either", async () => {
  put({ "long.txt": "x".repeat(100_000), "a.js": "export {};\n" });
  const { omitted, text } = await packProject(folder, { maxTokens: 100 });
  expect(omitted).toEqual(["long.txt"]);
  expect(text).toContain("- long.txt\n");
});

it("gives the room first to files that the error names", async () => {
  put({
    "a.js": "export const a = 1;\n",
    "src/deep/long.js": long,
    "z.js": "export const z = 1;\n",
  });
  const about = "TypeError: x\n    at run (/home/me/app/src/deep/long.js:3:5)";
  const { whole } = await packProject(folder, {
    maxTokens: estimateTokens(long) + 45,
    about,
  });
  expect(whole).toContain("src/deep/long.js");
});

it("names secrets, lock files and what tools make, and reads none of them out", async () => {
  put({
    ".env": "KEY=one-secret",
    ".env.local": "KEY=two-secret",
    ".env.example": "KEY=",
    "server.pem": "three-secret",
    "config/credentials.json": '{"key":"four-secret"}',
    "package-lock.json": '{"five-secret":1}',
    "a.min.js": "six-secret()",
    "picture.png": new Uint8Array([1, 0, 2]),
    "node_modules/x/index.js": "seven-secret",
  });
  const { text, whole, omitted } = await packProject(folder);
  expect(text).not.toContain("-secret");
  expect(whole).toEqual([".env.example"]);
  expect(omitted).toEqual([
    ".env",
    ".env.local",
    "a.min.js",
    "config/credentials.json",
    "package-lock.json",
    "picture.png",
    "server.pem",
  ]);
});

it.each([
  ".env",
  ".env.production",
  ".envrc",
  "prod.env",
  "config/app.ENV",
  ".dev.vars",
  ".dev.vars.staging",
  ".npmrc",
  ".git-credentials",
  ".aws/credentials",
  ".pypirc",
  ".htpasswd",
  "id_ed25519",
  "id_ed25519_sk",
  "id_ecdsa_sk",
  "server.key",
  "a.ppk",
  "team.kdbx",
  "prod.tfvars",
  "prod.auto.tfvars.json",
  "terraform.tfstate",
  "terraform.tfstate.backup",
  "service-account.json",
  "keys/service_account-prod.json",
  "serviceAccountKey.json",
  "secrets.yaml",
  "config/secret.json",
])("takes %s for a secret", (path) => {
  expect(mayBeSecret(path)).toBe(true);
});

it.each([
  ".env.example",
  "example.env",
  "config/sample.env",
  "template.env",
  "src/env.ts",
  "vite-env.d.ts",
  "environment.js",
  "id_ed25519.pub",
  "credentials.ts",
  "secrets.test.ts",
  "keys.js",
  "key/index.ts",
  "main.tf",
  "src/service-account.ts",
  ".env.sample",
  "npmrc.md",
])("takes %s for no secret", (path) => {
  expect(mayBeSecret(path)).toBe(false);
});

it("closes its fence after every fence in a file", async () => {
  put({ "a.md": "````\n```js\nx\n```\n````\n" });
  expect((await packProject(folder)).text).toContain("`````\n````\n```js");
});

it("never has more tokens than it may, but for the end of a list of paths", async () => {
  put(
    Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`f${at}.js`, long.slice(0, at * 90)]),
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 200, max: 20_000 }), async (maxTokens) => {
      const packed = await packProject(folder, { maxTokens });
      expect(packed.tokens).toBeLessThanOrEqual(maxTokens + 10);
      const { whole, declared, omitted } = packed;
      expect(new Set([...whole, ...declared, ...omitted]).size).toBe(40);
      expect(whole.length + declared.length + omitted.length).toBe(40);
    }),
    { numRuns: 15 },
  );
});

it.each([
  [0, "ERR_AGENT_OPTION"],
  [1.5, "ERR_AGENT_OPTION"],
])("refuses %s tokens", async (maxTokens, code) => {
  await expect(packProject(folder, { maxTokens })).rejects.toMatchObject({ code });
});

it("refuses a folder that is not there, and makes none", async () => {
  const missing = join(folder, "missing");
  await expect(packProject(missing)).rejects.toMatchObject({ code: "ERR_AGENT_WRITE" });
  await expect(packProject(" ")).rejects.toMatchObject({ code: "ERR_AGENT_ARGUMENT" });
});

it.each([".env", "a/.env.production", "id_ed25519", "deploy.key", "secrets.yaml", "Secret.json"])(
  "takes %s for a secret",
  (path) => expect(mayBeSecret(path)).toBe(true),
);

it.each([
  ".env.example",
  "src/env.ts",
  "keyboard.js",
  "secrets.ts",
  "monkey",
  "key.js",
  "environment",
])("takes %s for none", (path) => expect(mayBeSecret(path)).toBe(false));
