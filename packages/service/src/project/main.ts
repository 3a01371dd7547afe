import { existsSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { StartError } from "../errors.ts";

const usage =
  "usage: fetchwork-service dev [--watch FOLDER]... | docs | build [--executable | --if-missing]";
const project = process.cwd();
let failure = 2;
try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      executable: { type: "boolean" },
      help: { type: "boolean" },
      "if-missing": { type: "boolean" },
      watch: { type: "string", multiple: true },
    },
  });
  const [command = "", ...others] = positionals;
  const { executable = false, "if-missing": isForMissing = false, help, watch = [] } = values;
  const forBuild = Number(executable) + Number(isForMissing);
  const isForOther =
    forBuild > (command === "build" ? 1 : 0) || (watch.length > 0 && command !== "dev");
  const isKnown = help === true || /^(?:dev|docs|build)$/.test(command);
  if (!isKnown || others.length > 0 || isForOther) throw new StartError(usage);
  failure = 1;
  const entry = path.join(project, "src/index.ts");
  const folders = watch.map((folder) => path.resolve(folder));
  if (help === true) console.log(usage);
  else if (!existsSync(entry)) {
    throw new StartError(`${entry} does not exist: run it in the folder of a project`);
  } else if (command === "dev") (await import("./dev.ts")).dev(project, folders);
  else if (command === "docs") await (await import("./docs.ts")).docs(project);
  else if (executable) await (await import("./executable.ts")).buildExecutable(project);
  else if (!isForMissing || !existsSync(path.join(project, "dist/index.js"))) {
    await (await import("./build.ts")).build(project);
  }
} catch (error) {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  console.error(`fetchwork-service: ${line}`);
  process.exitCode = failure;
}
