import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findProject } from "../add/project.ts";
import { controllerFile } from "../add/resource-files.ts";
import { namesOf } from "../add/resource-names.ts";
import { writeChanges } from "../add/write-changes.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { ejectedController } from "./ejected-controller.ts";
import { loadResource } from "./load-resource.ts";

/** `fetchwork eject`. */
export const ejectCommand: Command = defineCommand({
  summary: "Write the handlers of a resource into the project, to be edited by hand",
  positionals: ["resource"],
  options: {},
  async run({ positionals: [name = ""] }, io) {
    const { folder } = findProject(io.cwd);
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
