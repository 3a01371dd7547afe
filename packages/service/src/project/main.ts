import { existsSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

const usage = "fetchwork-service dev [--watch FOLDER]... | docs | build [--executable]";

const project = process.cwd();
const work = workOf(process.argv.slice(2));
if (typeof work === "string") fail(work, 2);
else if (!existsSync(path.join(project, "src/index.ts"))) {
  fail(
    `${path.join(project, "src/index.ts")} does not exist: run it in the folder of a project`,
    1,
  );
} else {
  try {
    await work();
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error), 1);
  }
}

/** Returns what the arguments ask for, or what is wrong with them. */
function workOf(args: readonly string[]): string | (() => Promise<void>) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { executable: { type: "boolean" }, watch: { type: "string", multiple: true } },
    });
    const [command, ...others] = positionals;
    const { executable, watch } = values;
    if (others.length > 0 || (watch && command !== "dev") || (executable && command !== "build")) {
      return `usage: ${usage}`;
    }
    switch (command) {
      case "dev":
        return async () => {
          const { dev } = await import("./dev.ts");
          dev(
            project,
            (watch ?? []).map((folder) => path.resolve(folder)),
          );
        };
      case "docs":
        return async () => (await import("./docs.ts")).docs(project);
      case "build":
        return executable
          ? async () => (await import("./executable.ts")).buildExecutable(project)
          : async () => (await import("./build.ts")).build(project);
      default:
        return `usage: ${usage}`;
    }
  } catch (error) {
    return (error as Error).message;
  }
}

function fail(message: string, code: number): void {
  const [line = ""] = message.split("\n");
  console.error(`fetchwork-service: ${line}`);
  process.exitCode = code;
}
