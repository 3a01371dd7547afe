import { basename, relative, resolve } from "node:path";
import { defineCommand, type Command } from "../command/command.ts";
import type { CommandIo } from "../command/command-io.ts";
import { CommandFailure } from "../command/command-failure.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { terminalOf } from "../command/interactive-terminal.ts";
import { shellWord } from "../command/shell-word.ts";
import { CommandUsageError, refuse } from "../command/usage-error.ts";
import { askOptions, defaultFolder, type Answers } from "./ask-options.ts";
import { needsPinnedNode } from "./own-node.ts";
import { projectFiles } from "./project-files.ts";
import { packageNames, toolNames } from "./project-manifest.ts";
import {
  checkProjectOptions,
  faultOfName,
  faultOfTitle,
  titleOf,
  type ProjectOptions,
} from "./project-options.ts";
import { run } from "./run-program.ts";
import { workspaceRoot, workspaceTarballs } from "./workspace-tarballs.ts";
import { faultOfTarget, writeProject } from "./write-project.ts";

/** `fetchwork new`. */
export const newCommand: Command = defineCommand({
  summary: "Create a REST API in a folder",
  positionals: ["[folder]"],
  options: {
    name: { type: "string", description: "Package name (default: the folder's name)" },
    title: { type: "string", description: "Display name (default: derived from the name)" },
    db: {
      type: "string",
      hint: "sqlite|postgres",
      description: "Database (default: sqlite)",
    },
    auth: {
      type: "string",
      hint: "password|none",
      description: "How users sign in, besides providers; none: no users (default: password)",
    },
    "sign-up": {
      type: "string",
      hint: "master|public",
      description:
        "Who signs up and in: holders of the master key, or everyone, with a verified email (default: master)",
    },
    "password-resets": {
      type: "boolean",
      description: "Let users reset their password by email",
    },
    webhooks: {
      type: "boolean",
      description: "Send webhooks on changes to endpoints that admins manage",
    },
    list: {
      type: "string",
      hint: "array|rows",
      description: "List response format (default: array)",
    },
    port: { type: "string", hint: "number", description: "Port (default: 9000)" },
    packages: {
      type: "string",
      hint: "source",
      description:
        "Source of the Fetchwork packages: registry, or tarballs (inside the repository only)",
    },
    "skip-git": { type: "boolean", description: "Do not create a Git repository" },
    "skip-install": { type: "boolean", description: "Do not install packages" },
    yes: { type: "boolean", short: "y", description: "Accept all defaults without asking" },
  },
  async run({ values, positionals }, io) {
    const given: Answers = {
      folder: positionals[0],
      title: values.title,
      database: values.db,
      auth: values.auth,
      signUp: values["sign-up"],
      passwordResets: values["password-resets"],
      webhooks: values.webhooks,
      list: values.list,
    };
    const nameOf = (folder: string): string => values.name ?? basename(resolve(io.cwd, folder));
    // All options are checked before the first question.
    const { folder: named = defaultFolder } = given;
    const name = nameOf(named);
    const remedy = values.name === undefined ? "; set another with --name" : "";
    checkName(name, remedy);
    optionsOf(given, { name, port: values.port });
    const root = packedRepository(values.packages);
    if (given.folder !== undefined) refuse(faultOfTarget(resolve(io.cwd, given.folder)));
    const input = values.yes === true ? undefined : terminalOf(io);
    const faultOfFolder = (folder: string): string | undefined =>
      faultOfName(nameOf(folder)) ?? faultOfTarget(resolve(io.cwd, folder));
    const context = { nameOf, faultOfFolder, signal: io.signal };
    const answers = input ? await askOptions(given, { ...context, input }) : given;
    if (answers === undefined) {
      throw new CommandFailure("interrupted: nothing was written", {
        exitCode: exitCodes.interrupted,
      });
    }
    if (answers.folder === undefined) throw new CommandUsageError("folder is missing");
    const folder = resolve(io.cwd, answers.folder);
    const options = optionsOf(answers, { name: nameOf(answers.folder), port: values.port });
    refuse(faultOfTarget(folder));
    await write(folder, { options, root }, io);
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
  checkName(name);
  refuse(faultOfTitle(title));
  return checkProjectOptions({
    name,
    title,
    database: oneOf("db", database, ["sqlite", "postgres"]),
    hasUsers: oneOf("auth", auth, ["password", "none"]) === "password",
    signUp: oneOf("sign-up", answers.signUp ?? "master", ["master", "public"]),
    passwordResets: answers.passwordResets === true,
    webhooks: answers.webhooks === true,
    list: oneOf("list", list, ["array", "rows"]),
    port: /^\d{1,5}$/.test(port) ? Number(port) : Number.NaN,
  });
}

function checkName(name: string, remedy = ""): void {
  const fault = faultOfName(name);
  refuse(fault && `invalid name ${JSON.stringify(name)}: ${fault}${remedy}`);
}

const anyOf = new Intl.ListFormat("en", { type: "disjunction" });

function oneOf<const T extends string>(option: string, given: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === given);
  if (found !== undefined) return found;
  throw new CommandUsageError(
    `--${option} must be ${anyOf.format(allowed)}, got ${JSON.stringify(given)}`,
  );
}

/** The repository whose packages are packed; `undefined` where they come from the registry. */
function packedRepository(given: string | undefined): string | undefined {
  const root = workspaceRoot();
  const standard = root === undefined ? "registry" : "tarballs";
  if (oneOf("packages", given ?? standard, ["registry", "tarballs"]) === "registry") {
    return undefined;
  }
  if (root !== undefined) return root;
  throw new CommandUsageError("--packages tarballs works only inside the Fetchwork repository");
}

async function write(
  folder: string,
  { options, root }: { readonly options: ProjectOptions; readonly root: string | undefined },
  io: CommandIo,
): Promise<void> {
  const copies = new Map<string, string>();
  const tarballs = new Map<string, string>();
  if (root !== undefined) {
    io.stderr.write("Packing the packages of this repository\n");
    const names = [...packageNames, ...toolNames, "fetchwork"];
    for (const [name, file] of await workspaceTarballs(root, names, io.signal)) {
      const path = `vendor/${basename(file)}`;
      copies.set(path, file);
      tarballs.set(name, `file:${path}`);
    }
  }
  const pinsNode = needsPinnedNode(io.env["PATH"]);
  const files = await projectFiles(options, { tarballs, pinsNode });
  await writeProject(folder, files, { copies, signal: io.signal });
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
    await run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: folder,
      signal: io.signal,
    });
    return true;
  } catch (error) {
    if (io.signal.aborted) {
      throw new CommandFailure(
        "interrupted: the project was created, but its packages are not installed",
        {
          exitCode: exitCodes.interrupted,
          hint: `Continue with: ${[...enter(folder, io.cwd), "npm install"].join(" && ")}`,
          cause: error,
        },
      );
    }
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
  const lines = [
    ...enter(folder, cwd),
    ...(isInstalled === true ? [] : ["npm install"]),
    `npx fetchwork add note ${shellWord("text:string!:search")}`,
    "npm test",
    "npm run dev",
  ];
  return `Created ${folder}. Next:\n\n${lines.map((line) => `  ${line}\n`).join("")}\nYour API: http://localhost:${port}, its reference: http://localhost:${port}/docs\n`;
}

/** The shell command that changes to a folder; none when the shell is in it already. */
function enter(folder: string, cwd: string): readonly string[] {
  const path = relative(cwd, folder);
  if (path === "") return [];
  return [`cd ${shellWord(path.startsWith("..") ? folder : path)}`];
}
