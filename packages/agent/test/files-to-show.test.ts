import fc from "fast-check";
import { expect, it } from "vitest";
import { filesToShow } from "../src/project/files-to-show.ts";
import { mayBeSecret } from "../src/project/secret-files.ts";

const long = `export function run(a, b) {\n${"  work(a, b);\n".repeat(400)}}\n`;

/** What is shown of some files. */
async function show(files: Readonly<Record<string, string>>, maxTokens = 100_000, about = "") {
  const shown = await filesToShow(new Map(Object.entries(files)), { maxTokens, about });
  return { ...shown, forms: Object.fromEntries(shown.files.map(({ path, form }) => [path, form])) };
}

it("the list of files to show has every path, and every file that fits, in the order of their paths", async () => {
  const { paths, files } = await show({ "b.js": "export const b = 1;\n", "a.md": "# A\n" });
  expect(paths).toEqual(["b.js", "a.md"]);
  expect(files).toEqual([
    { path: "a.md", form: "text", text: "# A\n" },
    { path: "b.js", form: "text", text: "export const b = 1;\n" },
  ]);
});

it("the list of files to show shows what a file declares that has no room", async () => {
  const { files, forms } = await show(
    { "long.js": long, "short.js": "export const a = 1;\n" },
    300,
  );
  expect(forms).toEqual({ "long.js": "declarations", "short.js": "text" });
  expect(files[0]?.text).toBe("export function run(a, b)");
});

it("the list of files to show names a file that has no room for that either", async () => {
  const { paths, forms } = await show({ "long.txt": "x".repeat(100_000), "a.js": "a();\n" }, 100);
  expect(forms).toEqual({ "a.js": "text" });
  expect(paths).toContain("long.txt");
});

it("the list of files to show includes the files that the error names before all others", async () => {
  const files = { "a.js": "export const a = 1;\n", "src/deep/long.js": long };
  const about = "TypeError: x\n    at run (/home/me/app/src/deep/long.js:3:5)";
  const { forms } = await show(files, Math.ceil(long.length / 3.5) + 50, about);
  expect(forms["src/deep/long.js"]).toBe("text");
});

it("the list of files to show shows no secrets by name or content, no lock files and nothing that tools make", async () => {
  const { forms } = await show({
    ".env": "KEY=secret",
    ".env.example": "KEY=",
    "server.pem": "secret",
    "package-lock.json": "{}",
    "a.min.js": "a()",
    "config.js": `export const key = "AKIA${"A".repeat(16)}";`,
    "picture.png": "",
  });
  expect(forms).toEqual({ ".env.example": "text" });
});

it("the list of files to show shows no more than it may", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`f${at}.js`, long.slice(0, at * 90)]),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 200, max: 20_000 }), async (maxTokens) => {
      const shown = await show(files, maxTokens);
      const texts = [...shown.paths, ...shown.files.map(({ path, text }) => path + text)];
      expect(Buffer.byteLength(texts.join("")) / 3.5).toBeLessThanOrEqual(maxTokens);
    }),
    { numRuns: 15 },
  );
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
])("the list of files to show takes %s for a secret", (path) => {
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
])("the list of files to show takes %s for no secret", (path) => {
  expect(mayBeSecret(path)).toBe(false);
});

it.each([".env", "a/.env.production", "id_ed25519", "deploy.key", "secrets.yaml", "Secret.json"])(
  "the list of files to show takes %s for a secret",
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
])("the list of files to show takes %s for none", (path) => expect(mayBeSecret(path)).toBe(false));
