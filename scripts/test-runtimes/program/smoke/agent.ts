import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, unifiedDiff, validateFilePath } from "@fetchwork/agent";
import { expect } from "../platform.ts";
import { scriptedProvider } from "../scripted-provider.ts";

/** Compares two texts, refuses a path, and lets a scripted model write a project. */
export async function smoke(): Promise<void> {
  expect("a diff", unifiedDiff("a.js", "a();\n", "b();\n").endsWith("-a();\n+b();\n"), true);
  expect(
    "a path",
    [validateFilePath("src/a.js").ok, validateFilePath("../a.js").ok],
    [true, false],
  );

  const out = await mkdtemp(join(tmpdir(), "fetchwork-smoke-"));
  try {
    const agent = createAgent({ provider: scriptedProvider() });
    const run = agent.run({ prompt: "A greeting", out });
    const types = new Set<string>();
    for await (const event of run) types.add(event.type);
    const { ok, diagnostics } = await run.result;
    expect("a run", [ok, diagnostics], [true, []]);
    expect(
      "its events",
      ["started", "file", "finished"].every((type) => types.has(type)),
      true,
    );
    const written = await readFile(join(out, "src/main.js"), "utf8");
    expect("a file", written.includes('from "./greeting.js"'), true);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}
