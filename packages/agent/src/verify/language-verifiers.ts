import type { Diagnostic } from "../check/diagnostic.ts";
import { execTool, findTool, type Tool } from "./find-tool.ts";
import { notChecked, readFailures } from "./run-failures.ts";
import type { ExecResult } from "./sandbox.ts";
import { syntaxRun } from "./syntax-run.ts";
import type { ProjectView, Verifier } from "./verifier.ts";

const isShell = /\.(?:sh|bash)$/;

const checkShells = `
process.argv.slice(1).forEach((path, index) => {
  const first = /^#!.*\\b(ba|da|k)?sh\\b/.exec(require("node:fs").readFileSync(path, "utf8"));
  const shell = path.endsWith(".bash") || first?.[1] === "ba" ? "bash" : "sh";
  const { error, status, stderr } = require("node:child_process").spawnSync(shell, ["-n", path], { encoding: "utf8" });
  if (error || status === 0) return;
  const [, line = 0, message = stderr] = /:(?: line)? (\\d+): (.*)/.exec(stderr) ?? [];
  console.log(JSON.stringify([index, Number(line), message]));
});
`;

function shellScripts(files: ProjectView["files"]): readonly string[] {
  return [...files]
    .filter(([path, text]) => isShell.test(path) && !/^#!.*\b(?:zsh|fish)\b/.test(text))
    .map(([path]) => path);
}

/** Parses scripts of shells, `sh -n` or `bash -n` by their first line. */
export function shellCheck(): Verifier {
  return {
    name: "sh -n",
    applies: (files) => process.platform !== "win32" && shellScripts(files).length > 0,
    reads: (path) => isShell.test(path),
    check(project, sandbox) {
      const { folder: cwd, files, signal } = project;
      const command = [process.execPath, "-e", checkShells, "--"];
      return syntaxRun("sh -n", shellScripts(files), project, (paths) =>
        sandbox.exec([...command, ...paths], { cwd, signal }),
      );
    },
  };
}

/** Compiles without writing or running anything. */
const checkPython = `
import json, sys
for index, path in enumerate(sys.argv[1:]):
    try:
        with open(path, "rb") as file:
            compile(file.read(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        fault = [index, getattr(error, "lineno", None) or 0, getattr(error, "msg", None) or str(error)]
        print(json.dumps(fault), flush=True)
`;

const testPython = `
import importlib.util, runpy, sys
name = "pytest" if importlib.util.find_spec("pytest") else "unittest"
sys.argv = [name, "-q"] + (["-p", "no:cacheprovider", "--tb=short"] if name == "pytest" else [])
runpy.run_module(name, run_name="__main__", alter_sys=True)
`;

/** Python: compiles each file, then runs the tests by pytest, or else by unittest. */
export function pythonCheck(): readonly Verifier[] {
  const tool = once(() => findTool("python3"));
  return [
    verifierOf(tool, {
      name: "python3",
      extension: ".py",
      check: (python, project, sandbox) =>
        syntaxRun("python3", pathsOf(project, ".py"), project, (paths) =>
          execTool(
            python,
            ["-I", "-S", "-W", "ignore", "-c", checkPython, ...paths],
            project,
            sandbox,
          ),
        ),
    }),
    verifierOf(tool, {
      name: "pytest",
      extension: ".py",
      needs: (files) =>
        [...files.keys()].some((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path)),
      async check(python, project, sandbox) {
        const result = await execTool(python, ["-c", testPython], project, sandbox);
        const output = result.stdout + result.stderr;
        // 5: there are no tests.
        if (/^Ran 0 tests/m.test(output))
          return [notChecked(pathsOf(project, ".py")[0] ?? "", "tests: pytest is not installed")];
        if (result.code === 5) return [];
        const missing = Array.from(
          output.matchAll(/No module named '([\w]+)/g),
          ([, name = ""]) => name,
        );
        const absent = missing.find(
          (name) =>
            ![...project.files.keys()].some((path) =>
              path.split("/").some((part) => part === name || part === `${name}.py`),
            ),
        );
        if (absent !== undefined)
          return [
            notChecked(
              pathsOf(project, ".py")[0] ?? "",
              `tests: the package ${absent} is not installed`,
            ),
          ];
        return failuresOf("pytest", result, project);
      },
    }),
  ];
}

/** Go: `gofmt -e`, then `go vet` and `go test` where no package is missing. */
export function goCheck(): readonly Verifier[] {
  const tool = once(() => findTool("go"));
  const run = (args: readonly string[]): Verifier =>
    verifierOf(tool, {
      name: args.slice(0, 2).join(" "),
      extension: ".go",
      needs: (files) => files.has("go.mod"),
      async check(go, project, sandbox) {
        const result = await execTool(go, args.slice(1), project, sandbox);
        return withoutPackages(args.slice(0, 2).join(" "), "go.mod", result, project);
      },
    });
  return [
    verifierOf(tool, {
      name: "gofmt",
      extension: ".go",
      async check(go, project, sandbox) {
        const gofmt = { ...go, file: go.file.replace(/go$/, "gofmt") };
        const result = await execTool(gofmt, ["-e", "-l", "."], project, sandbox);
        return lineFaults("gofmt", /^(.+?\.go):(\d+):\d+: (.+)$/gm, result, project);
      },
    }),
    run(["go", "vet", "./..."]),
    run(["go", "test", "./..."]),
  ];
}

/** Rust: `cargo check`, then `cargo test`; without packages of others, as none is fetched. */
export function rustCheck(): readonly Verifier[] {
  const tool = once(() => findTool("cargo"));
  const run = (subcommand: string): Verifier => {
    const what = `cargo ${subcommand}`;
    return verifierOf(tool, {
      name: what,
      extension: ".rs",
      needs: (files) =>
        files.has("Cargo.toml") &&
        (files.has("Cargo.lock")
          ? !/^source = /m.test(files.get("Cargo.lock") ?? "")
          : ![...files].some(
              ([path, text]) => path.endsWith("Cargo.toml") && /^\[.*dependencies/m.test(text),
            )),
      async check(cargo, project, sandbox) {
        const args = [subcommand, "--offline", "--quiet", "--color=never"];
        const result = await execTool(cargo, args, project, sandbox);
        const faults = lineFaults(
          what,
          /^error(?:\[E\d+\])?: (.+)\n +--> (.+?):(\d+):\d+$/gm,
          result,
          project,
        );
        return faults.length > 0 && /^error.*\n +-->/m.test(result.stderr)
          ? faults
          : withoutPackages(what, "Cargo.toml", result, project);
      },
    });
  };
  return [run("check"), run("test")];
}

interface LanguageCheck extends Pick<Verifier, "name"> {
  readonly extension: string;
  /** Condition for a project, besides a file of the language. Default: none. */
  readonly needs?: ((files: ProjectView["files"]) => boolean) | undefined;
  check(tool: Tool, ...rest: Parameters<Verifier["check"]>): Promise<readonly Diagnostic[]>;
}

/** Looks for a tool once, and not before a program needs it: that starts a process. */
function once(find: () => Tool | undefined): () => Tool | undefined {
  let found: { readonly tool: Tool | undefined } | undefined;
  return () => (found ??= { tool: find() }).tool;
}

function verifierOf(findOnce: () => Tool | undefined, language: LanguageCheck): Verifier {
  const { name, extension, needs = () => true } = language;
  const reads = (path: string): boolean => path.endsWith(extension);
  return {
    name,
    reads,
    applies: (files) => [...files.keys()].some(reads) && needs(files) && findOnce() !== undefined,
    check(project, sandbox) {
      const tool = findOnce();
      return tool ? language.check(tool, project, sandbox) : Promise.resolve([]);
    },
  };
}

function pathsOf({ files }: ProjectView, extension: string): readonly string[] {
  return [...files.keys()].filter((path) => path.endsWith(extension));
}

function failuresOf(what: string, result: ExecResult, project: ProjectView): readonly Diagnostic[] {
  return result.code === 0 ? [] : readFailures(what, result, project);
}

/** A package that is not there is no fault of the project. */
function withoutPackages(
  what: string,
  manifest: string,
  result: ExecResult,
  project: ProjectView,
): readonly Diagnostic[] {
  const isMissing =
    /module lookup disabled|no required module provides|cannot find module|missing go\.sum|requires go >=|--offline was specified|no matching package/;
  return result.code !== 0 && isMissing.test(result.stdout + result.stderr)
    ? [notChecked(manifest, `${what}: packages are not installed`)]
    : failuresOf(what, result, project);
}

/** Faults that a compiler names with their lines; where it names none, what it wrote. */
function lineFaults(
  what: string,
  pattern: RegExp,
  result: ExecResult,
  project: ProjectView,
): readonly Diagnostic[] {
  if (result.code === 0) return [];
  const found = Array.from(
    `${result.stdout}\n${result.stderr}`.matchAll(pattern),
    (match): Diagnostic => {
      const [one = "", two = "", three = ""] = match.slice(1);
      const [path, line, message] = /^\d+$/.test(two) ? [one, two, three] : [two, three, one];
      return {
        path: path.replace(/^\.\//, ""),
        line: Number(line),
        code: "verification",
        message: `${what}: ${message}`.slice(0, 500),
        severity: "error",
      };
    },
  ).filter(({ path }) => project.files.has(path));
  return found.length > 0 ? found.slice(0, 30) : readFailures(what, result, project);
}
