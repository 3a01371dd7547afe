import { basename, relative, resolve } from "node:path";
import { defineCommand, type Command } from "../command.ts";
import type { CommandIo } from "../command-io.ts";
import { UsageError } from "../usage-error.ts";
import { askOptions, terminalOf, type Answers } from "./ask-options.ts";
import type { PackageSource } from "./package-source.ts";
import { closureOf, packWorkspace, run, workspaceRoot } from "./pack-workspace.ts";
import { projectFiles } from "./project-files.ts";
import { packageNames } from "./project-manifest.ts";
import {
  checkProjectName,
  checkProjectOptions,
  checkTitle,
  faultOfName,
  titleOf,
  type ProjectOptions,
} from "./project-options.ts";
import { checkTarget, faultOfTarget, writeProject } from "./write-project.ts";

/** `fetchwork new`. */
export const newCommand: Command = defineCommand({
  summary: "Make a new REST API in a folder",
  positionals: ["[folder]"],
  options: {
    name: { type: "string", description: "Name of the package (default: that of the folder)" },
    title: { type: "string", description: "Name for people (default: made from the name)" },
    db: {
      type: "string",
      hint: "sqlite|postgres",
      description: "Where documents are (default: sqlite)",
    },
    auth: {
      type: "string",
      hint: "methods",
      description:
        "How users sign in: password, or password,oidc, or none for no users (default: password)",
    },
    "password-resets": {
      type: "boolean",
      description: "Users set a lost password with a link in a mail",
    },
    webhooks: {
      type: "boolean",
      description: "Changes are sent to the endpoints that admins subscribe",
    },
    list: { type: "string", hint: "array|rows", description: "Shape of lists (default: array)" },
    port: { type: "string", hint: "number", description: "Where it listens (default: 9000)" },
    packages: {
      type: "string",
      hint: "source",
      description:
        "Where Fetchwork's packages come from: registry, or from the repository tarballs or workspace",
    },
    "skip-git": { type: "boolean", description: "Make no Git repository" },
    "skip-install": { type: "boolean", description: "Install nothing" },
    yes: { type: "boolean", short: "y", description: "Ask nothing" },
  },
  async run({ values, positionals }, io) {
    const given: Answers = {
      folder: positionals[0],
      title: values.title,
      database: values.db,
      auth: values.auth,
      passwordResets: values["password-resets"],
      webhooks: values.webhooks,
      list: values.list,
    };
    const nameOf = (folder: string): string => values.name ?? basename(resolve(io.cwd, folder));
    const input = values.yes === true ? undefined : terminalOf(io);
    if (given.folder !== undefined) {
      // Before the questions, which would be for nothing.
      const remedy = values.name === undefined ? "; give it one with --name" : "";
      checkProjectName(nameOf(given.folder), remedy);
      checkTarget(resolve(io.cwd, given.folder));
    }
    const faultOfFolder = (folder: string): string | undefined =>
      faultOfName(nameOf(folder)) ?? faultOfTarget(resolve(io.cwd, folder));
    const context = { nameOf, faultOfFolder, signal: io.signal };
    const answers = input ? await askOptions(given, { ...context, input }) : given;
    if (answers === undefined) throw new Error("stopped; nothing was written");
    if (answers.folder === undefined) throw new UsageError("[folder] is missing");
    const folder = resolve(io.cwd, answers.folder);
    const options = optionsOf(answers, { name: nameOf(answers.folder), port: values.port });
    checkTarget(folder);
    await write(folder, { options, packages: values.packages }, io);
    if (values["skip-git"] !== true) await initRepository(folder, io);
    const isInstalled = values["skip-install"] === true ? false : await install(folder, io);
    io.stdout.write(nextSteps(folder, { isInstalled, port: options.port, cwd: io.cwd }));
    return isInstalled === undefined ? 1 : 0;
  },
});

function optionsOf(
  answers: Answers,
  { name, port = "9000" }: { readonly name: string; readonly port?: string | undefined },
): ProjectOptions {
  const { title = titleOf(name), database = "sqlite", auth = "password", list = "array" } = answers;
  return checkProjectOptions({
    name: checkProjectName(name),
    title: checkTitle(title),
    database: oneOf("db", database, ["sqlite", "postgres"]),
    auth:
      auth === "none" ? [] : auth.split(",").map((one) => oneOf("auth", one, ["password", "oidc"])),
    passwordResets: answers.passwordResets === true,
    webhooks: answers.webhooks === true,
    list: oneOf("list", list, ["array", "rows"]),
    port: /^\d{1,5}$/.test(port) ? Number(port) : Number.NaN,
  });
}

function oneOf<const T extends string>(option: string, given: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === given);
  if (found !== undefined) return found;
  throw new UsageError(`--${option} takes ${allowed.join(" or ")}, not ${JSON.stringify(given)}`);
}

async function write(
  folder: string,
  {
    options,
    packages,
  }: { readonly options: ProjectOptions; readonly packages?: string | undefined },
  io: CommandIo,
): Promise<void> {
  const root = workspaceRoot();
  const kind = oneOf("packages", packages ?? (root === undefined ? "registry" : "tarballs"), [
    "registry",
    "tarballs",
    "workspace",
  ]);
  if (kind !== "tarballs") {
    return writeProject(folder, projectFiles(options, { kind }), { signal: io.signal });
  }
  if (root === undefined) throw new UsageError("--packages tarballs is for the repository alone");
  io.stderr.write("Packing the packages of this repository\n");
  const packed = await packWorkspace(root, io.signal);
  const needed = [...packageNames(options), "fetchwork"];
  const copies = new Map<string, string>();
  const files = new Map<string, string>();
  for (const [name, { file }] of closureOf(needed, packed)) {
    const path = `vendor/${basename(file)}`;
    copies.set(path, file);
    files.set(name, `file:${path}`);
  }
  const source: PackageSource = { kind, files };
  await writeProject(folder, projectFiles(options, source), { copies, signal: io.signal });
}

/** A project inside of a repository is part of that one; without Git there is none. */
async function initRepository(folder: string, { signal }: CommandIo): Promise<void> {
  const isInside = await run("git", ["rev-parse", "--git-dir"], { cwd: folder, signal }).then(
    () => true,
    () => false,
  );
  if (isInside || signal.aborted) return;
  await run("git", ["init", "--quiet"], { cwd: folder, signal }).catch(() => undefined);
}

/** Whether it is installed; `undefined` when that has failed. */
async function install(folder: string, io: CommandIo): Promise<boolean | undefined> {
  io.stderr.write("Installing packages\n");
  try {
    await run("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder, signal: io.signal });
    return true;
  } catch (error) {
    if (io.signal.aborted) throw error;
    io.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
}

function nextSteps(
  folder: string,
  {
    isInstalled,
    port,
    cwd,
  }: { readonly isInstalled: boolean | undefined; readonly port: number; readonly cwd: string },
): string {
  const path = relative(cwd, folder);
  const lines = [
    ...(path === "" ? [] : [`cd ${forShell(path)}`]),
    ...(isInstalled === true ? [] : ["npm install"]),
    "npx fetchwork add note 'text:string!:search'",
    "npm test",
    "npm run dev",
  ];
  return `${folder} is there. Next:\n\n${lines.map((line) => `  ${line}\n`).join("")}\nThen it answers on http://localhost:${port}, its reference is at http://localhost:${port}/docs.\n`;
}

function forShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
