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
import { inProject, projectFolder } from "../files/project-folder.ts";

const namePattern = /^\d{4,}-[a-z\d-]+\.(?:ts|js)$/;
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
  if (given !== undefined) return join(cwd, given);
  return join(inProject(projectFolder(cwd), "folder"), "src/migrations");
}

/**
 * Loads the migrations of a folder in the order of their numbers; none where there is no folder.
 *
 * @throws Error for a file that is not a migration.
 */
export async function loadMigrations(folder: string): Promise<readonly DocumentMigration[]> {
  const found: DocumentMigration[] = [];
  for (const file of filesIn(folder)) {
    const path = join(folder, file);
    requireOwnModule(path);
    const { migration } = await loadModule(path);
    const number = Number.parseInt(file, 10);
    if (!isMigration(migration) || migration.id !== number) {
      throw new Error(
        `${path} must export "migration" with the id ${number}, a name of 1 to 200 characters and changes`,
      );
    }
    found.push(migration);
  }
  return found;
}

/** The files of migrations in the order of their numbers. */
function filesIn(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((file) => namePattern.test(file))
    .toSorted((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
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

/** Writes the list for `defineService`; a module that the project wrote itself stays. */
async function writeList(folder: string): Promise<void> {
  const file = join(folder, "index.ts");
  if (existsSync(file) && !readFileSync(file, "utf8").startsWith(listHeader)) return;
  const names = filesIn(folder).map((each) => [each, `migration${Number.parseInt(each, 10)}`]);
  const imports = names.map(([each, name]) => `import { migration as ${name} } from "./${each}";`);
  const source = `${listHeader}
import type { DocumentMigration } from "fetchwork";
${imports.join("\n")}

export const migrations: readonly DocumentMigration[] = [
${names.map(([, name]) => `  ${name},`).join("\n")}
];
`;
  await writeFile(file, source);
}

/** Refuses a name under which no migration can be written. */
export function requireMigrationName(name: string, { write }: { readonly write: boolean }): void {
  if (write && /^[a-z\d]+(?:-[a-z\d]+)*$/.test(name) && name.length <= 100) return;
  const expected = "1 to 100 lower-case letters, digits and hyphens between them";
  const got = JSON.stringify(name.slice(0, 100));
  throw new CommandUsageError(`--name needs --write, and must be ${expected}, got ${got}`);
}
