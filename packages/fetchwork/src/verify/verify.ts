import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import type { Service } from "@fetchwork/service";
import type { Cost, Finding, VerifyOptions, VerifyReport } from "@fetchwork/verify";
import { type Command, defineCommand } from "../command/command.ts";
import type { CommandIo } from "../command/command-io.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { withPackage } from "../command/optional-package.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { wholeNumber } from "../command/whole-number.ts";
import { definitionsModule } from "../db/definitions.ts";
import { storeUrl } from "../db/store-url.ts";
import { loadModule } from "../files/load-module.ts";
import { inProject, projectFolder } from "../files/project-folder.ts";
import { annotations } from "./annotations.ts";
import { locateFaults } from "./faults.ts";
import { htmlOf } from "./html.ts";
import { sarifOf } from "./sarif.ts";

const minScale = 1000;
const maxScale = 1_000_000;

/** `fetchwork verify`. */
export const verify: Command = defineCommand({
  summary: "Try every caller on every field of the service; exits with 1 for findings",
  options: {
    app: {
      type: "string",
      hint: "module",
      description: "Module that exports the service (default: src/app.ts of the project)",
    },
    baseline: {
      type: "string",
      hint: "file",
      description:
        "Reviewed report in JSON: fails when callers read more; its `accept` names accepted findings",
    },
    database: {
      type: "string",
      hint: "url",
      description:
        "Empty database to use, such as postgres://… or env:<NAME>; emptied at the end (default: a temporary file)",
    },
    html: { type: "string", hint: "file", description: "Also write the report as an HTML page" },
    json: { type: "boolean", description: "Print the report as JSON, with a fix for each finding" },
    sarif: { type: "string", hint: "file", description: "Also write the findings as SARIF 2.1.0" },
    scale: {
      type: "string",
      hint: "documents",
      valueIfNone: String(maxScale),
      description: `Also measure lists over this number of generated documents per resource (default: ${maxScale})`,
    },
  },
  async run({ values }, io) {
    const { database, html, json = false, sarif } = values;
    const given = {
      ...(values.scale !== undefined && {
        scale: wholeNumber("scale", values.scale, maxScale, minScale),
      }),
      ...(database !== undefined && { database: storeUrl(database, io) }),
    };
    const module = inProject(definitionsModule(values.app, io), "app");
    const file = resolve(io.cwd, module);
    const service = Object.values(await loadModule(file)).find(isService);
    if (service === undefined) throw new Error(`${module} exports no service`);
    const { compareBaseline, fixes, keyOf, verifyService } = await withPackage(
      "verify",
      () => import("@fetchwork/verify"),
    );
    const baseline =
      values.baseline === undefined ? undefined : await readJson(resolve(io.cwd, values.baseline));
    const options = { module: file, ...(await optionsOf(io.cwd)), ...given, signal: io.signal };
    const report = await verifyService(service, options);
    const compared = baseline === undefined ? undefined : compareBaseline(report, baseline);
    const { closed = [], findings = report.findings, opened = [] } = compared ?? {};
    const code = findings.length + opened.length > 0 ? exitCodes.failed : exitCodes.ok;
    const root = projectFolder(io.cwd) ?? io.cwd;
    const base = baseFolder(root, io.env);
    const faults = await locateFaults({ findings, keyOf, opened }, { base, root });
    if (html !== undefined) await writeFile(resolve(io.cwd, html), htmlOf(report, faults));
    if (sarif !== undefined) await writeFile(resolve(io.cwd, sarif), sarifOf(faults, fixes));
    // GitHub reads both outputs; what is printed in JSON stays JSON.
    const isGithub = io.env["GITHUB_ACTIONS"] === "true";
    if (isGithub) (json ? io.stderr : io.stdout).write(annotations(faults));
    if (json) {
      io.stdout.write(jsonLine({ ...report, findings, ...(compared ? { opened, closed } : {}) }));
      return code;
    }
    const { dim, green, red } = colours(io.stdout);
    const print = (line: string): void => io.stdout.write(`${line}\n`);
    for (const line of findings.flatMap(describe)) print(line);
    for (const one of opened) print(`${red("opened")}  ${oneLine(one)}`);
    for (const one of closed) print(`${green("closed")}  ${oneLine(one)}`);
    for (const line of describeCosts(report.costs)) print(line);
    for (const note of notesOn(report, baseline)) print(dim(note));
    print(`${report.requests} requests, findings: ${findings.length}`);
    return code;
  },
});

/** Notes on what was not tried, and on what would show more. */
function notesOn({ skipped }: VerifyReport, baseline: unknown): readonly string[] {
  const notes = skipped.map((reason) => `not tried: ${oneLine(reason)}`);
  if (baseline !== undefined) return notes;
  return [
    ...notes,
    "no baseline: with --baseline FILE a change that opens a field to a caller is shown",
  ];
}

/** Paths are relative to the repository, as GitHub wants them, or else to the project. */
function baseFolder(root: string, env: CommandIo["env"]): string {
  const repository = env["GITHUB_WORKSPACE"] ?? "";
  const path = relative(repository, root);
  const isInside = repository !== "" && !path.startsWith("..") && !isAbsolute(path);
  return isInside ? repository : root;
}

/** The slowest request of each resource and way. */
function describeCosts(costs: readonly Cost[]): readonly string[] {
  const slowest = new Map<string, Cost>();
  for (const cost of costs) {
    const key = `${cost.resource} ${cost.way}`;
    if (cost.many >= (slowest.get(key)?.many ?? 0)) slowest.set(key, cost);
  }
  return [...slowest.values()].map(({ caller, few, many, request, resource, way }) =>
    oneLine(
      `${resource.padEnd(16)} ${way.padEnd(10)} ${caller.padEnd(9)} ${few} -> ${many} ms  ${request.path}`,
    ),
  );
}

function describe(finding: Finding): readonly string[] {
  const { caller, code, field, fix, request, resource = "-", status, way } = finding;
  const subject = field === undefined ? resource : `${resource}.${field}`;
  const body = request.body === undefined ? "" : ` ${JSON.stringify(request.body)}`;
  return [
    oneLine(`${code.padEnd(17)} ${subject.padEnd(24)} ${caller.padEnd(9)} ${way}`),
    oneLine(`  ${request.method} ${request.path}${body} -> ${status}`),
    `  ${fix}`,
  ];
}

function isService(value: unknown): value is Service {
  return ["collections", "config", "options", "resources"].every(
    (name) => typeof value === "object" && value !== null && Reflect.has(value, name),
  );
}

/** Default export of a project's `verify.config.ts`: options of `verifyService`. */
async function optionsOf(cwd: string): Promise<VerifyOptions> {
  const file = join(projectFolder(cwd) ?? cwd, "verify.config.ts");
  if (!existsSync(file)) return {};
  const { default: options } = (await loadModule(file)) as { readonly default?: VerifyOptions };
  if (options === undefined) throw new Error(`${file} must export options as default`);
  return options; // verifyService checks them.
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandUsageError(`cannot read the baseline ${file}: ${reason}`, { cause });
  }
}
