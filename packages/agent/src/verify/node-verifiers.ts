import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, posix } from "node:path";
import type { Diagnostic } from "../check/diagnostic.ts";
import { isScript } from "../check/parse-script.ts";
import { AgentError } from "../errors.ts";
import type { ExecResult } from "./sandbox.ts";
import type { ProjectView, Verifier } from "./verifier.ts";

const isTest =
  /(?:^|\/)(?:test|tests|__tests__)\/.*\.[cm]?[jt]s$|[._-]test\.[cm]?[jt]s$|(?:^|\/)test\.[cm]?[jt]s$/;
const isTypeScript = /\.[cm]?ts$/;

/** Parses each `.js`, `.mjs` and `.cjs` file as Node does: `node --check`. */
export function nodeCheck(): Verifier {
  return {
    name: "node --check",
    applies: (files) => scriptsOf(files).length > 0,
    reads: isScript,
    async check({ folder, files, signal }, sandbox) {
      const found: Diagnostic[] = [];
      for (const path of scriptsOf(files)) {
        // JSX is for bundlers, and browsers take modules that Node takes for CommonJS.
        const command = [process.execPath, "--check", path];
        const result = await sandbox.exec(command, { cwd: folder, signal });
        if (result.code !== 0) found.push(...readFailure(result, path, folder, files));
      }
      return found;
    },
  };
}

/**
 * Runs the project's own tests: `node --test`. Needs test files, and no packages that are not installed. Of tests in
 * TypeScript, from which Node only takes the types away, nothing counts but assertions that fail: what does not load may
 * be right for a compiler.
 */
export function nodeTest(): Verifier {
  return {
    name: "node --test",
    applies: (files) => testsOf(files).length > 0,
    reads: isScript,
    async check({ folder, files, signal }, sandbox) {
      const run = async (
        tests: readonly string[],
        counts: (result: ExecResult) => boolean,
      ): Promise<readonly Diagnostic[]> => {
        const [first] = tests;
        if (first === undefined) return [];
        const command = [process.execPath, "--test", "--test-reporter=tap", ...tests];
        const result = await sandbox.exec(command, { cwd: folder, signal });
        return counts(result) ? readFailure(result, first, folder, files) : [];
      };
      const tests = testsOf(files);
      const scripts = tests.filter((path) => !isTypeScript.test(path));
      const typed = tests.filter((path) => isTypeScript.test(path));
      return [...(await run(scripts, fails)), ...(await run(typed, failsAssertion))];
    },
  };
}

function fails({ code }: ExecResult): boolean {
  return code !== 0;
}

function failsAssertion({ code, stdout }: ExecResult): boolean {
  return code !== 0 && stdout.includes("code: 'ERR_ASSERTION'");
}

function testsOf(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files.keys()].filter((path) => isTest.test(path) && !path.endsWith(".d.ts"));
}

/** What {@link typeCheck} may be told. */
export interface TypeCheckOptions {
  /** File of the compiler's command. Default: `typescript` of the project that uses this package. */
  readonly tsc?: string | undefined;
}

/**
 * Checks types: `tsc --noEmit`. Applies to projects with a tsconfig.json, where `typescript` is installed. Where types of
 * packages are missing, which nobody installs here, it says nothing: without them most of what it finds is wrong.
 */
export function typeCheck({ tsc = findTsc() }: TypeCheckOptions = {}): Verifier {
  return {
    name: "tsc",
    applies: (files) => tsc !== undefined && files.has("tsconfig.json"),
    reads: isScript,
    async check({ folder, files, signal }, sandbox) {
      if (tsc === undefined) return [];
      const command = [process.execPath, tsc, "--noEmit", "--pretty", "false", "-p", "."];
      // Its folder, with what it imports, is no part of the project.
      const readOnly = [join(tsc, "../../..")];
      const result = await sandbox.exec(command, { cwd: folder, readOnly, signal });
      if (result.code === 0 || packagesAreMissing(result.stdout)) return [];
      const found = Array.from(
        result.stdout.matchAll(/^(\S[^\n]*?)\((\d+),\d+\): error (TS\d+: [^\n]+)/gm),
        ([, path = "", line, message = ""]): Diagnostic => ({
          path: path.replaceAll("\\", "/"),
          line: Number(line),
          code: "verification",
          message: message.slice(0, 500),
          severity: "error",
        }),
      ).filter(({ path }) => files.has(path));
      return found.length > 0 ? found : [failed("tsconfig.json", "tsc", result)];
    },
  };
}

/** A module that is no file of the project, no types for one, or a name that only such types declare. */
function packagesAreMissing(output: string): boolean {
  return /error TS(?:(?:2307|2792)[^\n']*'[^.'/]|(?:2580|2582|2591|2592|2593|2688|2867|2868|2875|7016):)/.test(
    output,
  );
}

function findTsc(): string | undefined {
  try {
    const manifest = createRequire(join(process.cwd(), "x.js")).resolve("typescript/package.json");
    const file = join(dirname(manifest), "bin/tsc");
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The file of the project that a stack trace names first. Where it names only tests, as a failed assertion does, it is
 * what the first of them imports first: a model that is given the test to repair makes it agree with the fault.
 */
function readFailure(
  result: ExecResult,
  fallback: string,
  folder: string,
  files: ProjectView["files"],
): readonly Diagnostic[] {
  if (result.timedOut) return [failed(fallback, "the run", result)];
  const output = `${result.stdout}\n${result.stderr}`;
  const places = Array.from(
    output
      .replaceAll(`file://${folder}/`, "")
      .replaceAll(`${folder}/`, "")
      .matchAll(/(?:^|[\s('"])([\w@./-]+\.[cm]?[jt]s):(\d+)/gm),
    ([, path = "", line]) => ({ path, line: Number(line) }),
  ).filter(({ path }) => files.has(path));
  const place = places.find(({ path }) => !isTest.test(path)) ?? places[0];
  if (place === undefined) return [failed(fallback, "the run", result)];
  const subject = isTest.test(place.path) ? subjectOf(place.path, files) : undefined;
  if (subject !== undefined) {
    return [{ ...failed(subject, "the run", result), related: place.path }];
  }
  const related = places.find(({ path }) => path !== place.path)?.path;
  const diagnostic = { ...failed(place.path, "the run", result), line: place.line };
  return [related === undefined ? diagnostic : { ...diagnostic, related }];
}

/** The file of the project that a test imports first. */
function subjectOf(test: string, files: ProjectView["files"]): string | undefined {
  const imported = (files.get(test) ?? "").matchAll(
    /(?:from|import|require\()\s*["'](\.{1,2}\/[^"'\n]+)["']/g,
  );
  return Array.from(imported, ([, name = ""]) => posix.join(posix.dirname(test), name)).find(
    (path) => files.has(path) && !isTest.test(path),
  );
}

function failed(
  path: string,
  what: string,
  { stdout, stderr, code, timedOut }: ExecResult,
): Diagnostic {
  const said = `${stdout}\n${stderr}`;
  const lines = said
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /(?:Error|error:|not ok|expected|actual|failed)/.test(line))
    .slice(0, 8);
  const count = /^# fail (\d+)$/m.exec(stdout)?.[1] ?? "0";
  const tests = count === "0" ? "" : `, ${count} failed`;
  const how = timedOut ? "took too long" : `ended with ${code ?? "a signal"}${tests}`;
  const message = `${what} ${how}${lines.length === 0 ? "" : `: ${lines.join(" | ")}`}`.slice(
    0,
    1_000,
  );
  return { path, code: "verification", message, severity: "error" };
}

/** The verifiers that need nothing but Node. */
export function defaultVerifiers(): readonly Verifier[] {
  return [nodeCheck(), nodeTest(), typeCheck()];
}

/** A verifier failed by itself: that is no fault of the project. */
export function verifierError(name: string, cause: unknown): AgentError {
  return new AgentError("ERR_AGENT_SANDBOX", `the verifier ${name} could not run`, { cause });
}

function scriptsOf(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files.keys()].filter((path) => /\.[cm]?js$/.test(path));
}
