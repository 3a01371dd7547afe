import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineCommand, type Command, type OptionValues } from "../command/command.ts";
import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { accessRulesOf } from "./access-rules.ts";
import { addResource, registry, withPart } from "./add-resource.ts";
import { apiIndex, findParts } from "./api-index.ts";
import { partFile } from "./part-files.ts";
import { parseField, type Field } from "./field.ts";
import { findProject, type Project } from "./project.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { namesOf, singularOf } from "./resource-names.ts";
import { writeChanges } from "./write-changes.ts";

const addOptions = {
  public: {
    type: "string",
    hint: "operations",
    description:
      "Operations allowed to everyone, out of list,show,create,update,remove (default: list,show)",
  },
  user: {
    type: "string",
    hint: "operations",
    description: "Operations allowed to users (default: create)",
  },
  owner: {
    type: "string",
    hint: "operations",
    description: "Operations allowed to the user who created the document (default: update,remove)",
  },
  admin: { type: "string", hint: "operations", description: "Operations allowed to admins" },
  master: {
    type: "string",
    hint: "operations",
    description: "Operations that require the master key",
  },
  "owner-field": {
    type: "string",
    hint: "name",
    description: "Field that holds the user who created the document (default: owner)",
  },
  path: {
    type: "string",
    description:
      "Path of the resource (default: the plural, such as /articles); accepts a name that looks like a plural",
  },
  list: {
    type: "string",
    hint: "array|rows",
    description: "List response format (default: the project's)",
  },
  "soft-delete": {
    type: "boolean",
    description: "Move removed documents to a trash instead of deleting them",
  },
} as const;

/** `fetchwork add`. */
export const addCommand: Command = defineCommand({
  summary:
    "Add a resource to the project (fetchwork add article 'title:string!' content:text), a job (fetchwork add job nightly) or a receiver of webhooks (fetchwork add receiver payments)",
  positionals: ["[resource]", "[field:type...]"],
  options: addOptions,
  async run({ values, positionals: [given = "", ...fields] }, io) {
    const project = findProject(io.cwd);
    if (given === "") return writeIndex(project, io);
    const [second] = fields;
    if (given === "job" || given === "receiver") {
      if (second === undefined)
        throw new CommandUsageError(`the ${given} has no name: fetchwork add ${given} NAME`);
      if (!second.includes(":")) return addPart(given, second, { project, io });
    }
    const definition = definitionOf({ name: given, fields, options: values }, project);
    if (values.path === undefined) requireSingular(given);
    const read = (path: string): string | undefined => {
      const file = join(project.folder, path);
      return existsSync(file) ? readFileSync(file, "utf8") : undefined;
    };
    for (const { name: field, presence, target } of definition.fields) {
      if (target === undefined) continue;
      const { kebab } = namesOf(target);
      if (kebab === definition.names.kebab) {
        if (presence !== "required") continue;
        throw new CommandUsageError(
          `a required reference to its own resource (${field}) can never be satisfied; make it optional with ?`,
        );
      }
      if (read(`src/api/${kebab}/model.ts`) === undefined) {
        throw new CommandUsageError(
          `unknown resource ${target}: expected one of the resources in src/api`,
        );
      }
    }
    if (fields.length === 0) {
      throw new CommandUsageError(
        "the resource has no fields: write each as name:type, such as 'title:string!' (required) or content:text",
      );
    }
    const conflict = findConflict(definition, project.folder);
    if (conflict !== undefined) throw new CommandUsageError(conflict);
    const changes = addResource(definition, { read, parts: findParts(project.folder) });
    if (changes.size === 0) {
      io.stdout.write(`${definition.names.kebab} already exists; nothing was changed\n`);
      return 0;
    }
    return write(project.folder, changes, io);
  },
});

/** `fetchwork add job NAME` and `fetchwork add receiver NAME`. */
async function addPart(
  kind: "job" | "receiver",
  name: string,
  { project: { folder }, io }: { readonly project: Project; readonly io: CommandIo },
): Promise<number> {
  const { list, path, setting, text } = partFile(kind, name);
  if (existsSync(join(folder, path))) {
    throw new CommandUsageError(`${path} already exists; nothing was changed`);
  }
  const index = apiIndex(withPart(findParts(folder), list, name));
  await write(folder, new Map(Object.entries({ [path]: text, [registry]: index })), io);
  if (setting) io.stdout.write(`Set ${setting} in .env; until then the response is 404\n`);
  return 0;
}

/** `fetchwork add`: lists what was written by hand. */
async function writeIndex({ folder }: Project, io: CommandIo): Promise<number> {
  const index = apiIndex(findParts(folder));
  if (readFileSync(join(folder, registry), "utf8") !== index) {
    return write(folder, new Map([[registry, index]]), io);
  }
  io.stdout.write(`${registry} is complete; nothing was changed\n`);
  return 0;
}

/** Writes files of a project, and says which. */
async function write(
  folder: string,
  changes: ReadonlyMap<string, string>,
  io: CommandIo,
): Promise<number> {
  await writeChanges(folder, changes, io.signal);
  for (const path of changes.keys()) {
    io.stdout.write(`${path === registry ? "changed" : "written"}  ${path}\n`);
  }
  return 0;
}

/** Describes a definition at the resource's path, which would keep the server from starting. */
function findConflict({ names }: ResourceDefinition, folder: string): string | undefined {
  const api = join(folder, "src/api");
  const modules = readdirSync(api, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /(?<!\.test|\.d)\.ts$/.test(file) && !file.startsWith(`${names.kebab}/`))
    .toSorted();
  for (const file of modules) {
    const text = readFileSync(join(api, file), "utf8");
    for (const [, path = ""] of text.matchAll(/\bpath["']?\s*:\s*["'`](\/[^"'`]*)["'`]/g)) {
      if (operationOf(path) === operationOf(names.path)) {
        return `the path ${names.path} is already used by src/api/${file}; choose another with --path`;
      }
    }
  }
  return undefined;
}

/** Names operations and collections by path, so `/blog/posts` conflicts with `/blog-posts`. */
function operationOf(path: string): string {
  return path.replaceAll("/", "-");
}

/**
 * Makes the definition of a resource from the words of a command line.
 *
 * @throws CommandUsageError
 */
export function definitionOf(
  {
    name,
    fields: words,
    options,
  }: {
    readonly name: string;
    readonly fields: readonly string[];
    readonly options: OptionValues<typeof addOptions>;
  },
  { hasUsers, hasWebhooks, list: defaultList }: Pick<Project, "hasUsers" | "hasWebhooks" | "list">,
): ResourceDefinition {
  const names = namesOf(name, options.path);
  if (names.kebab === "user") {
    const where = "users are in src/api/user/model.ts, where schema adds fields";
    throw new CommandUsageError(`the name user is reserved: ${where}`);
  }
  const fields = words.map(parseField);
  const access = accessRulesOf(options, { hasUsers });
  const isOwned = Object.values(access).includes("owner") || options["owner-field"] !== undefined;
  const owner = isOwned ? (options["owner-field"] ?? "owner") : undefined;
  checkNames(fields, owner);
  if (owner !== undefined && (access.create === "public" || access.create === "master")) {
    throw new CommandUsageError("--owner-field requires create to be allowed to users or admins");
  }
  const list = options.list ?? defaultList;
  if (list !== "array" && list !== "rows") {
    throw new CommandUsageError(`--list must be array or rows, got ${JSON.stringify(list)}`);
  }
  const softDelete = options["soft-delete"] === true;
  return { names, fields, access, owner, softDelete, list, hasUsers, hasWebhooks };
}

/** Refuses a name that looks like a plural. */
function requireSingular(name: string): void {
  const singular = singularOf(name);
  if (singular === undefined) return;
  throw new CommandUsageError(
    `${JSON.stringify(name)} looks like a plural, did you mean ${singular}? To keep the name, set the path: --path /${namesOf(name).kebab}`,
  );
}

function checkNames(fields: readonly Field[], owner: string | undefined): void {
  if (owner !== undefined && parseField(owner).name !== owner) {
    throw new CommandUsageError(
      `invalid --owner-field ${JSON.stringify(owner)}: expected a field name such as owner`,
    );
  }
  const seen = new Set<string>();
  for (const { name } of fields) {
    if (name === owner) {
      const expected = "expected another field, or another name in --owner-field";
      throw new CommandUsageError(`the field ${name} is that of the creator: ${expected}`);
    }
    if (seen.has(name)) throw new CommandUsageError(`the field ${name} is defined twice`);
    seen.add(name);
  }
}
