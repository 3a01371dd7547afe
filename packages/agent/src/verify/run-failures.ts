import { posix } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Diagnostic } from "../check/diagnostic.ts";
import { asLine } from "../errors.ts";
import type { ExecResult } from "./sandbox.ts";
import type { ProjectView } from "./verifier.ts";

/** A test that failed. */
export interface TestFailure {
  readonly name: string;
  /** Output about the test: its error with the stack. */
  readonly output: string;
}

/** Maximum number of diagnostics of a run. */
const maxFailures = 30;

const isTest =
  /(?:^|\/)(?:test|tests|__tests__|spec)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)(?:test|test_\w+|conftest)\.\w+$/;

/** Lines that begin the output of a failed test; the last group is the test's name. */
const headers: readonly RegExp[] = [
  // TAP
  /^ *not ok \d+(?: - | )(.+)$/,
  // vitest, jest
  /^ ?FAIL {2}(\S.* > .+)$/,
  /^ *● (.+)$/,
  // mocha, and the specification reporter of node --test
  /^ {2}\d+\) (.+)$/,
  /^ *✖ (.+?) \([\d.]+ms\)$/,
  // pytest, unittest
  /^_{3,} (.+?) _{3,}$/,
  /^(?:FAIL|ERROR): (.+)$/,
  // go test, cargo test
  /^ *--- FAIL: (\S+) \([\d.]+s\)$/,
  /^---- (.+) stdout ----$/,
];

/** Line that ends the output of a failed test, without being that of another. */
const isEnd = /^(?:=+ .* =+| *ok \d+ .*|failures:|FAIL|Ran \d+ tests? .*)$/;

/** Lines that say what was expected, and what happened instead. */
const telling =
  /(?:\w(?:Error|Exception)\b|\bassert|\bexpect(?:ed)?\b|\breceived\b|\bactual\b|\bleft:|\bright:|\bgot\b|\bwant\b|panic|^\s*E\s|^\s*error:|^\s*[-+] )/i;

/** The tests that failed, as far as the output of a known runner says which; else none. */
export function testFailures(output: string): readonly TestFailure[] {
  // Before their summaries, mocha and node list every test.
  const [, summary] = /^(?: *\d+ failing|✖ failing tests:)[^\n]*\n([^]*)$/m.exec(output) ?? [];
  const found: { readonly name: string; readonly lines: readonly string[] }[] = [];
  let lines: string[] | undefined;
  let quoted: string | undefined;
  for (const line of (summary ?? output).split("\n")) {
    // Lines between these marks in TAP are about one test, whatever the lines look like.
    const edge = /^( *)(---|\.\.\.)$/.exec(line);
    if (edge?.[2] === "---" && quoted === undefined) quoted = edge[1];
    else if (edge?.[2] === "..." && quoted === edge[1]) quoted = undefined;
    const header = headers.map((pattern) => pattern.exec(line)?.at(-1)).find(Boolean);
    if (header !== undefined && quoted === undefined) {
      lines = [];
      // Tests that are still to do may fail.
      if (!/ # (?:TODO|SKIP)\b/i.test(header)) found.push({ name: header.trim(), lines });
      if (found.length > 10 * maxFailures) break;
    } else if (isEnd.test(line)) lines = undefined;
    else if (lines !== undefined && lines.length < 200) lines.push(line);
  }
  return found
    .map(({ name, lines }) => ({ name, output: lines.join("\n").trim() }))
    .filter(({ name, output: text }) => {
      const isParent = text === "" && found.some((one) => one.name.startsWith(`${name}/`));
      return !isParent && !text.includes("failureType: 'subtestsFailed'");
    });
}

/**
 * Diagnostics of a failed run of a project: one for each failed test, or one with the last lines of
 * the output.
 *
 * @param what the run, such as `npm test`
 * @param known the tests that failed, where that is known without reading the output
 */
export function readFailures(
  what: string,
  result: ExecResult,
  { folder, files }: ProjectView,
  known?: readonly TestFailure[],
): readonly Diagnostic[] {
  const plain = (text: string): string =>
    stripVTControlCharacters(text)
      .replaceAll("\r", "")
      .replaceAll(`file://${folder}/`, "")
      .replaceAll(`${folder}/`, "");
  const output = plain(`${result.stdout}\n${result.stderr}`);
  const fallback =
    [...files.keys()].find((path) => /\.\w+$/.test(path) && isTest.test(path)) ??
    [...files.keys()][0] ??
    "";
  if (result.timedOut) return [failed(fallback, `${what} took too long`)];
  const failures = known ?? testFailures(output);
  const found = new Map<string, Diagnostic>();
  for (const failure of failures) {
    if (found.size === maxFailures) break;
    const [name, text] = [asLine(plain(failure.name)).slice(0, 200), plain(failure.output)];
    const lines = text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
    const hits = lines.filter((line) => telling.test(line));
    const shown = (hits.length === 0 ? lines : hits).slice(0, 8).map((line) => line.slice(0, 300));
    const place = placeOf(`${text}\n${name}`, files);
    const message = stable(`test ${JSON.stringify(name)} failed: ${shown.join(" | ")}`);
    const one = { ...failed(place?.path ?? fallback, message), ...place };
    found.set(`${one.path} ${message}`, one);
  }
  if (found.size > 0) return [...found.values()];
  const last = output
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-20)
    .map((line) => line.trim().slice(0, 300));
  const how = `${what} ended with ${result.code ?? "a signal"}`;
  const message = stable([how, ...last].join(" | "));
  return [{ ...failed(fallback, message), ...placeOf(output, files) }];
}

/** Says that something could not be looked at. */
export function notChecked(path: string, why: string): Diagnostic {
  return { path, code: "verification", message: `not checked: ${why}`, severity: "warning" };
}

function failed(path: string, message: string): Diagnostic {
  return { path, code: "verification", message, severity: "error" };
}

/** Without what is different each time: a fault is known by its message. */
function stable(message: string): string {
  return asLine(message)
    .replace(/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/gi, "<id>")
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z?/g, "<time>")
    .replace(/\b\d+(?:\.\d+)? ?(?:ms|s|seconds?)\b/g, "<time>")
    .replace(/\b0x[\da-f]{4,}\b/gi, "<id>")
    .replace(/(?:\/private)?\/(?:tmp|var\/folders)\/[^\s'")|]+/g, "<path>")
    .replace(/\b(?:localhost|127\.0\.0\.1):\d+/g, "<host>")
    .slice(0, 1_500);
}

/**
 * The file of the project that a stack trace names first. Where it names only tests, as a failed
 * assertion does, it is what the first of them imports first: a model that is given the test to
 * repair makes it agree with the fault.
 */
function placeOf(
  output: string,
  files: ProjectView["files"],
): Pick<Diagnostic, "path" | "line" | "related"> | undefined {
  const named = output.matchAll(/([\w@.+-][\w@./+-]{0,300}\.\w{1,5})(?:", line |:)?(\d{1,7})?/g);
  const places = Array.from(named, ([, name = "", line]) => ({
    path: files.has(name) ? name : onlyNamed(name.replace(/^\.\//, ""), files),
    ...(line !== undefined && { line: Number(line) }),
  })).filter((place): place is { path: string; line?: number } => place.path !== undefined);
  // Python names the call that failed last.
  if (output.includes("Traceback (most recent call last)") || /^E {3}/m.test(output))
    places.reverse();
  const place = places.find(({ path }) => !isTest.test(path)) ?? places[0];
  if (place === undefined) return undefined;
  const related = places.find(({ path }) => path !== place.path)?.path;
  const subject = isTest.test(place.path) ? subjectOf(place.path, files) : undefined;
  if (subject !== undefined) return { path: subject, related: place.path };
  return related === undefined ? place : { ...place, related };
}

/** Go names files without their folder. */
function onlyNamed(name: string, files: ProjectView["files"]): string | undefined {
  if (files.has(name)) return name;
  const found = name.endsWith("_test.go")
    ? [...files.keys()].filter((path) => path.endsWith(`/${name}`))
    : [];
  return found.length === 1 ? found[0] : undefined;
}

/** The file of the project that a test imports first, or is named after. */
function subjectOf(test: string, files: ProjectView["files"]): string | undefined {
  const text = files.get(test) ?? "";
  const imported = text.matchAll(/(?:from|import|require\()\s*["'](\.{1,2}\/[^"'\n]+)["']/g);
  const scripts = Array.from(imported, ([, name = ""]) => posix.join(posix.dirname(test), name));
  const modules = Array.from(
    text.matchAll(/^(?:from|import)[ \t]+([\w.]+)/gm),
    ([, name = ""]) => `${name.replaceAll(".", "/")}.py`,
  );
  const ends = [...modules, ...(test.endsWith(".rs") ? ["src/lib.rs"] : [])];
  const paths = [...files.keys()].filter((path) => !isTest.test(path));
  return (
    scripts
      .map((one) =>
        paths.find(
          (path) =>
            path === one || path.replace(/\.[cm]?[jt]sx?$/, "") === one.replace(/\.[cm]?jsx?$/, ""),
        ),
      )
      .find(Boolean) ??
    ends
      .map((end) => paths.find((path) => path === end || path.endsWith(`/${end}`)))
      .find(Boolean) ??
    paths.find((path) => path === test.replace("_test.go", ".go"))
  );
}
