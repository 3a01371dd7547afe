import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../pack-packages.mjs";
import type { Claim } from "./claims.ts";
import { runtimes, versionsOf } from "./runtimes.ts";

/** What `npm run test:runtimes` found, as `docs/runtimes.json` keeps it. */
export interface RuntimesRecord {
  /** Versions of the runtimes, by identifier. */
  readonly versions: Readonly<Record<string, string>>;
  readonly entries: readonly RecordedEntry[];
}

/** One entry of a package. */
export interface RecordedEntry {
  readonly entry: string;
  /** What was tried. */
  readonly does: string;
  /** `runs`, `imports` or `no`, by runtime. */
  readonly on: Readonly<Record<string, "runs" | "imports" | "no">>;
  /** What the test leaves out, by runtime. */
  readonly without: Readonly<Record<string, string>>;
  /** Why not, by runtime. */
  readonly why: Readonly<Record<string, string>>;
}

/** What is recorded when every claim holds. */
export function recordOf(claims: readonly Claim[]): RuntimesRecord {
  const entries = claims.map(({ entry, does, without = {}, except = {} }) => ({
    entry,
    does,
    without,
    on: Object.fromEntries(
      runtimes.map(({ id }) => {
        const exception = except[id];
        if (exception === undefined) return [id, "runs"] as const;
        return [id, exception.imports ? "imports" : "no"] as const;
      }),
    ),
    why: Object.fromEntries(
      runtimes.flatMap(({ id }) => (except[id] === undefined ? [] : [[id, except[id].reason]])),
    ),
  }));
  return { versions: versionsOf(), entries };
}

/** Files that are generated of a record: their paths below the root, and their texts. */
export function filesOf(record: RuntimesRecord): ReadonlyMap<string, string> {
  return new Map([
    ["docs/runtimes.json", `${JSON.stringify(record, undefined, 2)}\n`],
    ["docs/runtimes.md", pageOf(record)],
  ]);
}

/** Writes the files, or in CI only names those that are not what they should be. */
export async function writeRecord(
  record: RuntimesRecord,
  { isCI }: { readonly isCI: boolean },
): Promise<readonly string[]> {
  const stale: string[] = [];
  for (const [path, text] of filesOf(record)) {
    const file = join(root, path);
    const current = await readFile(file, "utf8").catch(() => "");
    if (current === text) continue;
    if (isCI) stale.push(path);
    else await writeFile(file, text);
  }
  return stale;
}

const signs = { runs: "✓", imports: "imports", no: "–" };

/** The table of what runs where. */
function tableOf({ versions, entries }: RuntimesRecord): string {
  return markdownTable(
    ["part", ...runtimes.map(({ id, name }) => `${name} (${versions[id]})`)],
    entries.map(({ entry, on }) => [
      label(entry),
      ...runtimes.map(({ id }) => signs[on[id] ?? "no"]),
    ]),
  );
}

/** The page of the documentation. */
export function pageOf(record: RuntimesRecord): string {
  const { entries } = record;
  const tried = markdownTable(
    ["entry", "what its test does"],
    entries.map(({ entry, does }) => [label(entry), does]),
  );
  const without = entries.flatMap((entry) =>
    runtimes.flatMap(({ id, name }) => {
      const what = entry.without[id];
      return what === undefined ? [] : [[label(entry.entry), name, what]];
    }),
  );
  const reasons = entries.flatMap(({ entry, why, on }) =>
    runtimes.flatMap(({ id, name }) => {
      const reason = why[id];
      if (reason === undefined) return [];
      return [[label(entry), name, on[id] === "imports" ? `can be imported; ${reason}` : reason]];
    }),
  );
  return `# Runtimes

The table shows what runs where. \`npm run test:runtimes\` writes this page and \`runtimes.json\`: it packs the packages as they are
published and installs the tarballs into an empty project. It installs each runtime from the npm registry in the pinned version
(Linux on x64). On each one it does the test of each entry. It fails when something does not run where it is said to. It also
fails when something runs where it is said not to. The tests are in
[\`scripts/test-runtimes/program/smoke\`](../scripts/test-runtimes/program/smoke), what is claimed in
[\`claims.ts\`](../scripts/test-runtimes/claims.ts), the versions in [\`runtimes\`](../scripts/test-runtimes/runtimes/package.json).

${tableOf(record)}
✓ its test passes, which is no more than it says below · imports: it can be imported, and its test fails · – it is not claimed, and cannot be imported

Requests go over sockets of 127.0.0.1 with the runtime's own server and \`fetch\`. Requests of \`@fetchwork/http\` go over its default
transport there: undici on Node, \`fetch\` elsewhere. The agent's model is scripted, documents are in SQLite. workerd has the
compatibility date 2026-11-01 and no flags. Other systems and architectures are not tried.

## What was tried

${tried}
## What a test leaves out

${markdownTable(["entry", "runtime", "without"], without)}
## What is not claimed

${markdownTable(["entry", "runtime", "why"], reasons)}`;
}

function label(entry: string): string {
  return entry === "fetchwork/bin/fetchwork.mjs" ? "the command `fetchwork`" : `\`${entry}\``;
}

/** A table with cells of the same width, as Prettier leaves it. */
function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, at) =>
    Math.max(3, cell.length, ...rows.map((row) => (row[at] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  return line(head) + rule + rows.map(line).join("");
}
