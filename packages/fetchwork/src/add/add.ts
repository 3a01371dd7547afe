import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineCommand, type Command } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { accessRulesOf } from "./access-rules.ts";
import { addResource, registry } from "./add-resource.ts";
import { definedLists } from "./defined-lists.ts";
import { parseField, type Field } from "./field.ts";
import { findProject, type Project } from "./project.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { namesOf } from "./resource-names.ts";
import { writeChanges } from "./write-changes.ts";

const operationsHint = "operations";

/** Options of `fetchwork add` by what they are called on the command line. */
export interface AddOptions {
  readonly public?: string | undefined;
  readonly user?: string | undefined;
  readonly owner?: string | undefined;
  readonly admin?: string | undefined;
  readonly master?: string | undefined;
  readonly "owner-field"?: string | undefined;
  readonly path?: string | undefined;
  readonly list?: string | undefined;
  readonly "soft-delete"?: boolean | undefined;
}

/** `fetchwork add`. */
export const addCommand: Command = defineCommand({
  summary: "Add a resource to the project: fetchwork add article 'title:string!' content:text",
  positionals: ["resource", "[field:type...]"],
  options: {
    public: {
      type: "string",
      hint: operationsHint,
      description: "What everyone may do, of list,show,create,update,remove (default: list,show)",
    },
    user: {
      type: "string",
      hint: operationsHint,
      description: "What users may do (default: create)",
    },
    owner: {
      type: "string",
      hint: operationsHint,
      description: "What the user who has created a document may do (default: update,remove)",
    },
    admin: { type: "string", hint: operationsHint, description: "What admins may do" },
    master: {
      type: "string",
      hint: operationsHint,
      description: "What the holder of the master key may do",
    },
    "owner-field": {
      type: "string",
      hint: "name",
      description: "Field of the user who has created a document (default: owner)",
    },
    path: {
      type: "string",
      description: "Path of the list (default: the plural, such as /articles)",
    },
    list: {
      type: "string",
      hint: "array|rows",
      description: "Shape of the list (default: that of the project)",
    },
    "soft-delete": { type: "boolean", description: "Keep removed documents in a trash" },
  },
  async run({ values, positionals: [name = "", ...fields] }, io) {
    const project = findProject(io.cwd);
    const definition = definitionOf({ name, fields, options: values }, project);
    const read = (path: string): string | undefined => {
      const file = join(project.folder, path);
      return existsSync(file) ? readFileSync(file, "utf8") : undefined;
    };
    for (const { target } of definition.fields) {
      if (target === undefined || namesOf(target).kebab === definition.names.kebab) continue;
      if (read(`src/api/${namesOf(target).kebab}/model.ts`) === undefined) {
        throw new UsageError(`there is no resource ${target} to refer to`);
      }
    }
    const endless = definition.fields.find(
      ({ presence, target }) =>
        presence === "required" &&
        target !== undefined &&
        namesOf(target).kebab === definition.names.kebab,
    );
    if (endless) throw new UsageError(`${endless.name} would need one before the first one`);
    const rival = rivalOf(definition, project.folder);
    if (rival !== undefined) throw new UsageError(rival);
    const changes = addResource(definition, read);
    if (changes.size === 0) {
      io.stdout.write(`${definition.names.kebab} is there already; nothing was changed\n`);
      return 0;
    }
    await writeChanges(project.folder, changes, io.signal);
    for (const path of changes.keys()) {
      io.stdout.write(`${path === registry ? "changed" : "written"}  ${path}\n`);
    }
    return 0;
  },
});

/** Says where something of another name is that the resource would be in the way of, so that no server would start. */
function rivalOf({ names }: ResourceDefinition, folder: string): string | undefined {
  const api = join(folder, "src/api");
  const modules = readdirSync(api, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /(?<!\.test|\.d)\.ts$/.test(file) && !file.startsWith(`${names.kebab}/`))
    .toSorted();
  for (const file of modules) {
    for (const { name, path } of definedLists(readFileSync(join(api, file), "utf8"))) {
      if (path !== undefined && operationOf(path) === operationOf(names.path)) {
        return `the path ${names.path} is taken by src/api/${file}: give another one with --path`;
      }
      if (name === names.camel) return `the name ${name} is taken by src/api/${file}`;
    }
  }
  return undefined;
}

/** Operations and collections are called by paths like this: `/blog/posts` is in the way of `/blog-posts`. */
function operationOf(path: string): string {
  return path.replaceAll("/", "-");
}

/**
 * Makes the definition of a resource from the words of a command line.
 *
 * @throws UsageError
 */
export function definitionOf(
  {
    name,
    fields: words,
    options,
  }: { readonly name: string; readonly fields: readonly string[]; readonly options: AddOptions },
  { hasUsers, list: usual }: Pick<Project, "hasUsers" | "list">,
): ResourceDefinition {
  const names = namesOf(name, options.path);
  if (names.kebab === "user") throw new UsageError("the name user is reserved");
  const fields = words.map(parseField);
  const access = accessRulesOf(options, { hasUsers });
  const isOwned = Object.values(access).includes("owner") || options["owner-field"] !== undefined;
  const owner = isOwned ? (options["owner-field"] ?? "owner") : undefined;
  checkNames(fields, owner);
  if (owner !== undefined && (access.create === "public" || access.create === "master")) {
    throw new UsageError("--owner-field needs creators who are users or admins");
  }
  const list = options.list ?? usual;
  if (list !== "array" && list !== "rows") {
    throw new UsageError(`--list takes array or rows, not ${JSON.stringify(list)}`);
  }
  const softDelete = options["soft-delete"] === true;
  return { names, fields, access, owner, softDelete, list, hasUsers };
}

function checkNames(fields: readonly Field[], owner: string | undefined): void {
  if (owner !== undefined && parseField(owner).name !== owner) {
    throw new UsageError(`--owner-field ${JSON.stringify(owner)} is no name of a field`);
  }
  const seen = new Set(owner === undefined ? [] : [owner]);
  for (const { name } of fields) {
    if (seen.has(name)) throw new UsageError(`there are two fields ${name}`);
    seen.add(name);
  }
}
