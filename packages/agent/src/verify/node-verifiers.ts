import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Diagnostic } from "../check/diagnostic.ts";
import { isScript } from "../check/parse-script.ts";
import { hasOtherRunner, packageScripts } from "./commands.ts";
import { goCheck, pythonCheck, rustCheck, shellCheck } from "./language-verifiers.ts";
import { notChecked, readFailures, type TestFailure } from "./run-failures.ts";
import type { Verifier } from "./verifier.ts";

const isTest =
  /(?:^|\/)(?:test|tests|__tests__)\/.*\.[cm]?[jt]s$|[._-]test\.[cm]?[jt]s$|(?:^|\/)test\.[cm]?[jt]s$/;
const isTypeScript = /\.[cm]?ts$/;

/**
 * Prints a line of JSON for each test that failed, and nothing of what tests print. For a file that
 * could not be run, it prints the file's error output.
 */
const reporter = `
const text = (value) => { try { return String(typeof value === "object" ? JSON.stringify(value) : value).slice(0, 200); } catch { return "?"; } };
export default async function* (events) {
  const said = new Map();
  for await (const { type, data } of events) {
    if (type === "test:stderr") said.set(data.file, ((said.get(data.file) ?? "") + data.message).slice(-4000));
    if (type !== "test:fail" || data.todo !== undefined || data.skip !== undefined) continue;
    const { failureType, message, cause } = data.details.error;
    if (failureType === "subtestsFailed") continue;
    const compared = cause?.code === "ERR_ASSERTION" ? "\\nexpected: " + text(cause.expected) + "\\nactual: " + text(cause.actual) : "";
    const isFile = said.has(data.name);
    const output = (isFile ? said.get(data.name) : (cause?.stack ?? message)) + compared;
    yield JSON.stringify([String(data.name), output.slice(0, 4000), data.file ?? "", cause?.code ?? ""]) + "\\n";
  }
}
`;

/**
 * Runs the project's own tests: `node --test`. Needs test files, and no packages that are not
 * installed. Where the script `test` of package.json is for another runner, only tests that import
 * `node:test`. Node only takes the types away from tests in TypeScript. So only their assertions
 * that fail count: what does not load may be right for a compiler.
 */
export function nodeTest(): Verifier {
  return {
    name: "node --test",
    applies: (files) => testsOf(files).length > 0,
    reads: isScript,
    judges: isScript,
    async check(project, sandbox) {
      const { folder: cwd, files, signal } = project;
      const found: Diagnostic[] = [];
      const typed = testsOf(files).filter((path) => isTypeScript.test(path));
      for (const tests of [testsOf(files).filter((path) => !typed.includes(path)), typed]) {
        if (tests.length === 0) continue;
        const url = `--test-reporter=data:text/javascript,${encodeURIComponent(reporter)}`;
        const command = [process.execPath, "--test", url, ...tests];
        const result = await sandbox.exec(command, { cwd, signal });
        if (result.code === 0) continue;
        const failures = failuresIn(result.stdout, tests === typed);
        if (tests !== typed || failures.length > 0) {
          found.push(...readFailures("node --test", result, project, failures));
        } else
          found.push(
            notChecked(tests[0] ?? "", "node --test: it cannot be loaded without a compiler"),
          );
      }
      return found;
    },
  };
}

function failuresIn(stdout: string, isTyped: boolean): readonly TestFailure[] {
  return stdout.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      const [name = "", output = "", file = "", code = ""] = Array.isArray(value)
        ? value.map(String)
        : [];
      if (isTyped && code !== "ERR_ASSERTION") return [];
      return [{ name, output: output.includes(file) ? output : `${output}\n${file}` }];
    } catch {
      // The last line may be cut, and Node may print others.
      return [];
    }
  });
}

function testsOf(files: ReadonlyMap<string, string>): readonly string[] {
  const isOther = hasOtherRunner(files);
  return [...files]
    .filter(
      ([path, text]) =>
        isTest.test(path) && !path.endsWith(".d.ts") && (!isOther || text.includes("node:test")),
    )
    .map(([path]) => path);
}

/**
 * Checks types: `tsc --noEmit`. Applies to projects with a tsconfig.json, where `typescript` is
 * installed. Where types of packages are missing, which nobody installs here, it says nothing:
 * without them most of what it finds is wrong.
 */
export function typeCheck(): Verifier {
  const tsc = findTsc();
  return {
    name: "tsc",
    applies: (files) => tsc !== undefined && files.has("tsconfig.json"),
    reads: isScript,
    judges: (path) => /\.[cm]?tsx?$/.test(path),
    async check({ folder, files, signal }, sandbox) {
      if (tsc === undefined) return [];
      const command = [process.execPath, tsc, "--noEmit", "--pretty", "false", "-p", "."];
      // Its folder, with what it imports, is not part of the project.
      const readOnly = [join(tsc, "../../..")];
      const result = await sandbox.exec(command, { cwd: folder, readOnly, signal });
      if (result.code === 0) return [];
      if (packagesAreMissing(result.stdout))
        return [notChecked("tsconfig.json", "tsc: types of packages are not installed")];
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
      if (found.length > 0) return found;
      return readFailures("tsc", result, { folder, files, signal }, []).map((one) => ({
        ...one,
        path: "tsconfig.json",
      }));
    },
  };
}

/** A module that is not in the project, missing types, or a name that only they declare. */
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
 * The verifiers that need no option: Node's tests and TypeScript's types, the scripts of
 * package.json, and those of Python, Go, Rust and shells. Each applies where its tool is installed
 * and the project has files for it.
 */
export function defaultVerifiers(): readonly Verifier[] {
  return [
    shellCheck(),
    ...pythonCheck(),
    ...goCheck(),
    ...rustCheck(),
    nodeTest(),
    typeCheck(),
    packageScripts(),
  ];
}
