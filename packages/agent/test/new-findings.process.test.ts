import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import type { AgentOptions } from "../src/run/agent-options.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { commandCheck } from "../src/verify/commands.ts";
import { nodeTest, typeCheck } from "../src/verify/node-verifiers.ts";
import type { Verifier } from "../src/verify/verifier.ts";
import { editScript } from "./edit-script.ts";
import { startModelServer, type ModelServer, type ScriptedAnswer } from "./model-server.ts";

let out: string;
let server: ModelServer | undefined;

beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), "new-findings-"));
});
afterEach(async () => {
  await server?.close();
  rmSync(out, { recursive: true, force: true });
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(out, path), text);
}

const read = (path: string): string => readFileSync(join(out, path), "utf8");

async function agentFor(answers: readonly ScriptedAnswer[], options: AgentOptions) {
  server = await startModelServer({ answers });
  const provider = openAICompatible({ baseUrl: server.baseUrl, model: "scripted" });
  return createAgent({
    provider,
    retry: { delay: 1 },
    sandbox: { level: "process" },
    ...options,
  });
}

const test = (path: string): string =>
  `import { test } from "node:test";\nimport { a } from "./${path}";\ntest("is a number", () => { if (typeof a !== "number") throw new Error("it is none"); });\n`;
const program = {
  "package.json": '{"type":"module","name":"own"}\n',
  "a.js": "export const a = 1;\n",
  "a.test.js": test("a.js"),
};
const viteConfig = {
  path: "vite.config.js",
  content: "import { defineConfig } from 'vite';\nexport default defineConfig({});\n",
};
const needsVite =
  'vite.config.js:1 it imports the package "vite", but package.json does not name it';
const isMeant: ScriptedAnswer = { last: "user", match: ["# Check"], text: "It is meant so." };

/** It reads every file, and decides about none. */
const parser: Verifier = {
  name: "parser",
  applies: () => true,
  check: () => Promise.resolve([]),
};

describe("what only our own check finds since an edit", () => {
  it("is a warning where the tests of the program pass, and the model is told of it once", async () => {
    write(program);
    const agent = await agentFor([isMeant, ...editScript([viteConfig])], {
      verifiers: [parser, nodeTest()],
    });
    const result = await agent.edit({ request: "build it", out }).result;
    expect(result).toMatchObject({ ok: true, repairs: 1, summary: "It is meant so." });
    expect(result.diagnostics).toMatchObject([
      { path: "vite.config.js", severity: "warning", code: "missing-dependency" },
    ]);
    expect(server?.requests).toHaveLength(3);
    expect(server?.requests.at(-1)?.messages.join("\n")).toContain(
      `${needsVite} (no tool of the program reports it)`,
    );
    expect(read("vite.config.js")).toBe(viteConfig.content);
  });

  it("is what the model makes of it when it is told", async () => {
    write(program);
    const named = '{"type":"module","name":"own","devDependencies":{"vite":"8"}}\n';
    const repair = editScript([{ path: "package.json", content: named }], ["# Check"]);
    const agent = await agentFor([...repair, ...editScript([viteConfig])], {
      verifiers: [nodeTest()],
    });
    const result = await agent.edit({ request: "build it", out }).result;
    expect(result).toMatchObject({ ok: true, repairs: 1, diagnostics: [] });
    expect(read("package.json")).toBe(named);
  });

  it("is a warning where a command that was given passes", async () => {
    write(program);
    const content = '<!doctype html><html><head><script src="a.js"></script></head></html>\n';
    const agent = await agentFor([isMeant, ...editScript([{ path: "a.html", content }])], {
      verifiers: [commandCheck("true")],
    });
    const { ok, diagnostics } = await agent.edit({ request: "a page", out }).result;
    expect([ok, diagnostics]).toMatchObject([true, [{ path: "a.html", severity: "warning" }]]);
  });

  it.each<[string, AgentOptions, Readonly<Record<string, string>>]>([
    ["nothing runs the program", {}, {}],
    ["nothing but a parser reads it", { verifiers: [parser] }, {}],
    ["a tool fails", { verifiers: [commandCheck("false")] }, {}],
    [
      "tests could not be loaded",
      { verifiers: [nodeTest()] },
      { "a.test.js": "", "b.test.ts": "import './vite.config.js';\n" },
    ],
    [
      "types of packages are missing",
      { verifiers: [typeCheck()] },
      {
        "tsconfig.json":
          '{"compilerOptions":{"types":["node"],"allowJs":true},"include":["*.js"]}\n',
      },
    ],
  ])("is an error where %s", async (_case, options, more) => {
    write({ ...program, ...more });
    if (more["a.test.js"] === "") rmSync(join(out, "a.test.js"));
    const agent = await agentFor([isMeant, ...editScript([viteConfig])], { ...options, repair: 0 });
    const { ok, diagnostics, sandbox } = await agent.edit({ request: "build it", out }).result;
    expect([ok, sandbox]).toEqual([false, options.verifiers && "process"]);
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        path: "vite.config.js",
        code: "missing-dependency",
        severity: "error",
      }),
    );
  });

  it("is an error in a file that cannot be parsed, whatever passes", async () => {
    write(program);
    const agent = await agentFor(editScript([{ path: "b.json", content: "{,}\n" }]), {
      verifiers: [commandCheck("true")],
      repair: 0,
    });
    const { ok, diagnostics, sandbox } = await agent.edit({ request: "x", out }).result;
    expect([ok, diagnostics]).toMatchObject([false, [{ code: "syntax", severity: "error" }]]);
    // Nothing was run.
    expect(sandbox).toBeUndefined();
  });

  it("is told once to a model that makes all edits in one answer", async () => {
    write(program);
    const status = { kind: "status", status: 400 } as const;
    const agent = await agentFor(
      [
        { tool: "edit", fault: { ...status, body: { error: { message: "no tools" } } } },
        { tool: "edit_files", fault: status },
        { tool: null, text: JSON.stringify({ edits: [viteConfig] }) },
      ],
      { verifiers: [nodeTest()] },
    );
    const { ok, diagnostics } = await agent.edit({ request: "build it", out }).result;
    expect([ok, diagnostics]).toMatchObject([true, [{ severity: "warning" }]]);
    const told = server?.requests.filter(({ messages }) => messages.join("\n").includes(needsVite));
    expect(told).toHaveLength(1);
  });
});

describe("optional tools that a program imports and its package.json does not name", () => {
  const tree = {
    ...program,
    [viteConfig.path]: viteConfig.content,
    "shell.js": "export const open = () => import('electron');\n",
  };

  it.each([
    ["warnings where its tests pass", { verifiers: [nodeTest()] }, "warning"],
    ["errors where nothing else looks", {}, "error"],
  ])("are %s", async (_case, options, severity) => {
    write(tree);
    const { ok, diagnostics } = await (await agentFor([], options)).verify(out);
    expect(ok).toBe(severity === "warning");
    expect(diagnostics).toMatchObject([
      { path: "shell.js", code: "missing-dependency", severity },
      { path: "vite.config.js", code: "missing-dependency", severity },
    ]);
  });
});
