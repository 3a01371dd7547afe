import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { editScript } from "./edit-script.ts";
import { startModelServer, type ModelServer } from "./model-server.ts";
import { manyFiles, projectScript } from "./project-script.ts";

let place: string;
let server: ModelServer;

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), "kill-at-end-"));
  server = await startModelServer({
    answers: [
      ...editScript([
        { path: "a.js", search: "a = 1", replace: "a = 2" },
        { path: "src/b.js", content: "export const b = 2;\n" },
      ]),
      ...projectScript(manyFiles(4)),
    ],
  });
});
afterEach(async () => {
  await server.close();
  rmSync(place, { recursive: true, force: true });
});

/** How a process ended that has so much of the journal's last line written before it is killed. */
function end(name: string, out: string, what: string, part: number) {
  const program = join(import.meta.dirname, name);
  const args = ["--conditions=@fetchwork/source", program, server.baseUrl, out, "r1", what];
  const child = spawn(process.execPath, [...args, String(part)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(signal ?? code));
  });
}

function folderFor(name: string): string {
  const out = mkdtempSync(join(place, name));
  writeFileSync(join(out, "a.js"), "export const a = 1;\n");
  return out;
}

function treeOf(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith(".fetchwork/runs") && statSync(join(folder, path)).isFile(),
  );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

const isOver = (out: string): boolean =>
  readFileSync(join(out, ".fetchwork/runs/r1/journal.ndjson"), "utf8").endsWith('"done",{}]\n');

it.each([
  ["run", "before its end is written", 0],
  ["run", "while its end is written", 0.5],
  ["run", "after its end is written", 1],
  ["edit", "before its end is written", 0],
  ["edit", "while its end is written", 0.5],
  ["edit", "after its end is written", 1],
])(
  "a killed %s is resumed with the same tree and without a question: %s",
  async (what, _when, part) => {
    const [whole, out] = [folderFor("whole"), folderFor("killed")];
    expect(await end("agent-process.ts", whole, what, part)).toBe(0);
    const perfect = server.requests.length;
    expect(perfect).toBeGreaterThan(1);
    expect(await end("end-process.ts", out, what, part)).toBe("SIGKILL");
    expect(server.requests).toHaveLength(2 * perfect);
    expect([isOver(out), treeOf(out)]).toEqual([part === 1, treeOf(whole)]);
    expect(await end("agent-process.ts", out, "resume", part)).toBe(0);
    expect([isOver(out), treeOf(out)]).toEqual([true, treeOf(whole)]);
    expect(server.requests).toHaveLength(2 * perfect);
  },
  60_000,
);
