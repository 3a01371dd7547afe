import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineCollection, openStore } from "@fetchwork/documents";
import type { CommandIo } from "../../src/command/command-io.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { newFolder } from "../db/db-world.ts";
import { memoryIo } from "../memory-io.ts";

const packages = join(import.meta.dirname, "../../../../node_modules");

/** Makes a project whose `src/app.ts` is this source. */
export function newProject(app: string): string {
  const folder = newFolder();
  symlinkSync(packages, join(folder, "node_modules"));
  mkdirSync(join(folder, "src/api"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "src/api/index.ts"), "export {};\n");
  writeFileSync(join(folder, "src/app.ts"), app);
  return folder;
}

/** The source of a program with one collection of items. */
export function itemsApp(shape: string, options = ""): string {
  return `
import { defineCollection } from "@fetchwork/documents";
import { z } from "zod";
export const items = defineCollection("items", { schema: z.object({ ${shape} }), ${options} });
`;
}

/** Writes a migration of a project. */
export function addMigration(folder: string, file: string, source: string): void {
  mkdirSync(join(folder, "src/migrations"), { recursive: true });
  writeFileSync(join(folder, "src/migrations", file), source);
}

/** Puts documents into a store, as an earlier version of the program would have. */
export async function fill(url: string, name: string, documents: readonly object[]): Promise<void> {
  await using store = await openStore(url);
  await store.collection(defineCollection<object>(name)).insertMany(documents);
}

/** Reads all documents of a collection without what the store adds. */
export async function readAll(url: string, name: string): Promise<readonly object[]> {
  await using store = await openStore(url);
  const found = await store.collection(defineCollection(name)).find({ sort: ["id"] });
  return found.map(
    ({ id: _id, version: _version, createdAt: _at, updatedAt: _to, ...rest }) => rest,
  );
}

/** Runs `fetchwork migrate`. */
export async function migrate(
  args: readonly string[],
  given: Partial<CommandIo> = {},
): Promise<readonly [code: number, stdout: string, stderr: string]> {
  const io = memoryIo(given);
  const code = await runCommand(commands, { args: ["migrate", ...args], io });
  return [code, io.written.stdout, io.written.stderr];
}
