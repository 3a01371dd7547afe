import { existsSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import type { Diagnostic } from "../check/diagnostic.ts";
import { checkTime, optionError, requireText } from "../errors.ts";
import { neededPackages } from "./fetch-packages.ts";
import { readManifest } from "./read-manifest.ts";
import { notChecked, readFailures } from "./run-failures.ts";
import type { Verifier } from "./verifier.ts";

/** How a command of {@link commandCheck} is run. */
export interface CommandCheckOptions {
  /** Milliseconds. Default: the sandbox's. */
  readonly timeout?: number | undefined;
}

/**
 * Runs a command in the copy of the program: `sh -c`. Exit status 0 means that nothing is wrong.
 * Else each failed test in the output of a known runner is a fault, or the output's last lines are.
 * It counts as a check of every file.
 *
 * @throws AgentUsageError `ERR_AGENT_ARGUMENT` for a blank command, `ERR_AGENT_OPTION` for one of
 *   more than 10,000 characters or with control characters, or for an option that is wrong
 */
export function commandCheck(command: string, options: CommandCheckOptions = {}): Verifier {
  requireText("command", command);
  checkOptions("commandCheck", options, ["timeout"]);
  const { timeout } = options;
  checkTime("timeout", timeout);
  if (command.length > 10_000 || /\0/.test(command)) {
    throw optionError("command", command, "at most 10000 characters, without NUL");
  }
  return {
    name: command.slice(0, 80),
    applies: (files) => files.size > 0,
    judges: () => true,
    async check(project, sandbox) {
      const { folder: cwd, signal } = project;
      const result = await sandbox.exec(["sh", "-c", command], { cwd, signal, timeout });
      return result.code === 0 ? [] : readFailures(command.slice(0, 80), result, project);
    },
  };
}

/**
 * Runs the scripts `typecheck`, `lint` and `test` of package.json, but npm's placeholder and what
 * {@link nodeTest} runs. Where packages are needed and not installed, a warning says that they were
 * not checked.
 */
export function packageScripts(): Verifier {
  return {
    name: "package.json",
    applies: (files) => scriptsToRun(files).length > 0,
    reads: () => false,
    judges: () => true,
    async check(project, sandbox) {
      const { folder: cwd, files, signal } = project;
      const names = scriptsToRun(files);
      const needsPackages = neededPackages(files) !== undefined;
      if (needsPackages && !existsSync(join(cwd, "node_modules"))) {
        return [notChecked("package.json", `${names.join(", ")}: the packages are not installed`)];
      }
      const manager = managerOf(files);
      const found: Diagnostic[] = [];
      for (const name of names) {
        // Its package manager, where the sandbox has it; npm runs the same scripts.
        const script = `command -v ${manager} > /dev/null && exec ${manager} run ${name}; exec npm run ${name}`;
        const offline = [
          "npm_config_offline=true",
          "npm_config_update_notifier=false",
          "npm_config_loglevel=error",
          "COREPACK_ENABLE_NETWORK=0",
        ];
        const result = await sandbox.exec(["env", ...offline, "sh", "-c", script], { cwd, signal });
        const what = `${manager} run ${name}`;
        if (result.code === 127)
          found.push(notChecked("package.json", `${what}: a command is not installed`));
        else if (result.code !== 0) found.push(...readFailures(what, result, project));
      }
      return found;
    },
  };
}

/** Whether a project's `test` script is for another runner than Node's. */
export function hasOtherRunner(files: ReadonlyMap<string, string>): boolean {
  return scriptsToRun(files).includes("test");
}

function scriptsToRun(files: ReadonlyMap<string, string>): readonly string[] {
  const { scripts } = readManifest(files);
  if (!isObject(scripts)) return [];
  return ["typecheck", "lint", "test"].filter((name) => {
    const text = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
    if (typeof text !== "string" || text.trim() === "" || text.includes("no test specified"))
      return false;
    return name !== "test" || !/^node --test(?:$|[\s=-])[^&|;]*$/.test(text);
  });
}

function managerOf(files: ReadonlyMap<string, string>): "npm" | "pnpm" | "yarn" | "bun" {
  const { packageManager } = readManifest(files);
  const managers = ["pnpm", "yarn", "bun"] as const;
  const named = managers.find(
    (one) => typeof packageManager === "string" && packageManager.startsWith(`${one}@`),
  );
  const locks = { pnpm: ["pnpm-lock.yaml"], yarn: ["yarn.lock"], bun: ["bun.lock", "bun.lockb"] };
  return named ?? managers.find((one) => locks[one].some((lock) => files.has(lock))) ?? "npm";
}
