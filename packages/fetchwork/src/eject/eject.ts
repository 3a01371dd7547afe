import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findProject } from "../add/project.ts";
import { controllerFile } from "../add/resource-files.ts";
import { namesOf } from "../add/resource-names.ts";
import { writeChanges } from "../add/write-changes.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { readTemplates } from "../new/project-files.ts";
import { fillTemplate } from "../new/template-text.ts";
import { ejectedController } from "./ejected-controller.ts";
import { ejectedPart, parts } from "./ejected-part.ts";
import { loadResource } from "./load-resource.ts";

/** `fetchwork eject`. */
export const ejectCommand: Command = defineCommand({
  summary: "Write handlers into the project, to be edited by hand: of users, auth, or a resource",
  positionals: ["resource"],
  options: {},
  async run({ positionals: [name = ""] }, io) {
    const { folder } = findProject(io.cwd);
    if (name === "users" || name === "auth") return ejectPart(name, folder, io);
    const { camel, kebab } = namesOf(name);
    const path = `src/api/${kebab}/controller.ts`;
    const model = join(folder, `src/api/${kebab}/model.ts`);
    if (!existsSync(join(folder, path)) || !existsSync(model)) {
      throw new CommandUsageError(`unknown resource ${kebab}`);
    }
    if (readFileSync(join(folder, path), "utf8") !== controllerFile(camel)) {
      throw new CommandUsageError(`${path} was already ejected or changed; nothing was changed`);
    }
    const text = ejectedController(camel, await loadResource(model, camel));
    await writeChanges(folder, new Map([[path, text]]), io.signal);
    io.stdout.write(`written  ${path}\n`);
    return 0;
  },
});

/** Writes out what accounts do in a project that has not changed it yet. */
async function ejectPart(
  name: keyof typeof parts,
  folder: string,
  io: Parameters<typeof ejectCommand.run>[1],
): Promise<number> {
  const { entry, folder: own } = parts[name];
  const path = `${own}/${entry}`;
  const before = readTemplates().get(path);
  if (before === undefined || !existsSync(join(folder, path))) {
    throw new CommandUsageError(`${path} is missing: the project has no users`);
  }
  const untouched = fillTemplate(before, { users: true }, new Map());
  if (readFileSync(join(folder, path), "utf8") !== untouched) {
    throw new CommandUsageError(`${path} was already ejected or changed; nothing was changed`);
  }
  const files = ejectedPart(name, folder);
  await writeChanges(folder, files, io.signal);
  for (const file of files.keys()) io.stdout.write(`written  ${file}\n`);
  return 0;
}
