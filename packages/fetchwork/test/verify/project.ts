import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import type { CommandIo } from "../../src/command/command-io.ts";
import { memoryIo } from "../memory-io.ts";

const modules = join(import.meta.dirname, "../../../../node_modules");

/**
 * A project with a public field that has the name of a secret, a list without an index and a route
 * that fails.
 */
const faulty = {
  "package.json": '{ "name": "faulty", "type": "module" }',
  "src/api/index.ts": "export {};\n",
  "src/api/note.ts": `import { defineResource } from "@fetchwork/rest";
import { z } from "zod";

export const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ token: z.string(), stock: z.int(), tags: z.array(z.string()) }),
  access: { list: "public", show: "public" },
  filter: ["tags"],
});
`,
  "src/app.ts": `import { json } from "@fetchwork/http";
import { defineRoute, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { accountSettings, defineConfig, defineService, serverSettings } from "@fetchwork/service";
import { note } from "./api/note.ts";

const fail = defineRoute({
  summary: "Fail",
  tag: "own",
  method: "GET",
  path: "/fail",
  operation: "failAlways",
  access: "public",
  responses: { 200: { description: "Done" } },
  handle: () => json({ error: "it fails" }, { status: 500 }),
});

export const app = defineService({
  name: "faulty",
  config: defineConfig({ ...serverSettings, ...accountSettings }),
  accounts: accounts({ user: defineUser() }),
  resources: [resourceRoutes(note)],
  routes: [fail],
});
`,
} as const;

/**
 * Writes the project, and other files of it; `atEnd` is told how to remove it. Default: with the
 * end of the test.
 */
export async function makeProject(
  others: Readonly<Record<string, string>> = {},
  atEnd: (remove: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "verify-project-")));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries({ ...faulty, ...others })) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  await symlink(modules, join(folder, "node_modules"));
  return folder;
}

/** Runs `fetchwork verify`. */
export async function runVerify(
  args: readonly string[],
  cwd: string,
  env: CommandIo["env"] = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const io = memoryIo({ cwd, env });
  const code = await runCommand(commands, { args: ["verify", ...args], io });
  return { code, ...io.written };
}
