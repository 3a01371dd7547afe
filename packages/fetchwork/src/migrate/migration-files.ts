import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DocumentMigration } from "@fetchwork/service";
import { isMigration } from "@fetchwork/service/internal";
import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { requireOwnModule } from "../db/definitions.ts";
import { loadModule } from "../files/load-module.ts";
import { makeFolders } from "../files/make-folders.ts";
import { projectFolder } from "../files/project-folder.ts";

const maxFiles = 10_000;
const namePattern = /^(\d{4,})-[a-z\d-]+\.(?:ts|js)$/;
const listHeader =
  '// Written by "fetchwork migrate plan --write", for "migrations" of defineService.';

/** The option that names a folder of migrations. */
export const folderOption = {
  folder: {
    type: "string",
    hint: "folder",
    description: "Folder of the migrations (default: src/migrations of the project)",
  },
} as const;

/** Returns the folder of migrations: the given one, or that of the project. */
export function migrationsFolder(given: string | undefined, { cwd }: CommandIo): string {
  const project = given === undefined ? projectFolder(cwd) : undefined;
  if (given !== undefined) return join(cwd, given);
  if (project !== undefined) return join(project, "src/migrations");
  throw new CommandUsageError("there is no project here: pass --folder, or run it in a project");
}

/**
 * Loads the migrations of a folder in the order of their numbers; none where there is no folder.
 *
 * @throws Error for a file that is not a migration, and for two with the same number.
 */
export async function loadMigrations(folder: string): Promise<readonly DocumentMigration[]> {
  if (!existsSync(folder)) return [];
  const found = new Map<number, DocumentMigration>();
  const names = readdirSync(folder).filter((name) => namePattern.test(name));
  if (names.length > maxFiles) throw new Error(`${folder} has more than ${maxFiles} migrations`);
  for (const name of names.toSorted()) {
    const file = join(folder, name);
    requireOwnModule(file);
    const { migration } = { ...(await loadModule(file)) } as Record<string, unknown>;
    const number = Number(namePattern.exec(name)?.[1]);
    if (!isMigration(migration) || migration.id !== number) {
      throw new Error(
        `${file} must export "migration" with the id ${number}, a name of 1 to 200 characters and changes`,
      );
    }
    if (found.has(number)) throw new Error(`two migrations have the number ${number} in ${folder}`);
    found.set(number, migration);
  }
  return [...found.values()].toSorted((one, other) => one.id - other.id);
}

/** Writes the file of a migration, never over another one. Resolves to its path. */
export async function writeMigration(
  folder: string,
  { id, name, source }: { readonly id: number; readonly name: string; readonly source: string },
): Promise<string> {
  const file = join(folder, `${String(id).padStart(4, "0")}-${name}.ts`);
  await makeFolders(folder);
  await writeFile(file, source, { flag: "wx" });
  await writeList(folder);
  return file;
}

/** Writes the list of all migrations for `defineService`; a module that the project wrote itself stays. */
async function writeList(folder: string): Promise<void> {
  const file = join(folder, "index.ts");
  if (existsSync(file) && !readFileSync(file, "utf8").startsWith(listHeader)) return;
  const names = readdirSync(folder).filter((name) => namePattern.test(name));
  const imports = names.toSorted().map((name) => {
    const local = `migration${Number(namePattern.exec(name)?.[1])}`;
    return { line: `import { migration as ${local} } from "./${name}";\n`, local };
  });
  const lines = imports.map(({ line }) => line).join("");
  const list = imports.map(({ local }) => `  ${local},\n`).join("");
  const type = 'import type { DocumentMigration } from "fetchwork";\n';
  const text = `${listHeader}\n${type}${lines}\nexport const migrations: readonly DocumentMigration[] = [\n${list}];\n`;
  await writeFile(file, text);
}

/**
 * Checks the name of a migration that is to be written.
 *
 * @throws CommandUsageError
 */
export function requireMigrationName(name: string): void {
  if (/^[a-z\d]+(?:-[a-z\d]+)*$/.test(name) && name.length <= 100) return;
  const expected = "1 to 100 lower-case letters, digits and hyphens between them";
  throw new CommandUsageError(
    `--name is ${JSON.stringify(name.slice(0, 100))}: expected ${expected}`,
  );
}
