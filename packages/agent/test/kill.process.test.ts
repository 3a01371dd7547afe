import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startModelServer } from "./model-server.ts";
import { projectScript } from "./project-script.ts";
import { sampleProjects } from "./sample-projects.ts";

const program = join(import.meta.dirname, "agent-process.ts");
const files = sampleProjects().get("worker-images") ?? new Map<string, string>();

function treeOf(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith(".fetchwork/runs") && statSync(join(folder, path)).isFile(),
  );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** Paths whose answers are in the journal. */
function finishedIn(folder: string): readonly string[] {
  const journal = join(folder, ".fetchwork/runs/r1/journal.ndjson");
  if (!existsSync(journal)) return [];
  const lines = readFileSync(journal, "utf8").split("\n").slice(0, -1);
  return lines.flatMap((line) => {
    const [, type, data] = JSON.parse(line.slice(17)) as [
      number,
      string,
      { readonly path?: string },
    ];
    return type === "file" && data.path !== undefined
      ? [data.path]
      : type === "plan"
        ? ["plan"]
        : [];
  });
}

it("a run has the same tree after being killed again and again, and asks for nothing finished a second time", async () => {
  const server = await startModelServer({ answers: projectScript(files), delay: 40 });
  const folder = mkdtempSync(join(tmpdir(), "agent-kill-"));
  const undisturbed = mkdtempSync(join(tmpdir(), "agent-whole-"));
  /**
   * Ends the process after this number of questions; resolves to whether it ended by
   * itself.
   */
  const run = (out: string, what: string, after: number): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const args = ["--conditions=@fetchwork/source", program, server.baseUrl, out, "r1", what];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
      const before = server.requests.length;
      const timer = setInterval(() => {
        if (server.requests.length - before >= after) child.kill("SIGKILL");
      }, 5);
      child.once("error", reject);
      child.once("close", (code, signal) => {
        clearInterval(timer);
        if (signal === null && code !== 0) reject(new Error(`it ended with ${code}`));
        else resolve(signal === null);
      });
    });
  try {
    expect(await run(undisturbed, "run", Infinity)).toBe(true);
    const perfect = server.requests.length;
    let kills = 0;
    let isDone = false;
    for (let round = 0; !isDone && round < 30; round += 1) {
      const finished = finishedIn(folder);
      const first = server.requests.length;
      const begun =
        existsSync(join(folder, ".fetchwork/runs/r1/journal.ndjson")) && finished.length > 0;
      if (!begun) rmSync(folder, { recursive: true, force: true });
      // One, two or three questions later: while answers are on their way, are written down, or
      // files are.
      isDone = await run(folder, begun ? "resume" : "run", kills < 12 ? 1 + (round % 3) : Infinity);
      if (!isDone) kills += 1;
      const asked = server.requests.slice(first).map(({ task }) => task.split("\n")[0] ?? "");
      for (const path of finished) {
        expect(asked).not.toContain(path === "plan" ? "# Plan" : `# Write ${path}`);
      }
    }
    expect(isDone).toBe(true);
    expect(kills).toBeGreaterThanOrEqual(3);
    expect(treeOf(folder)).toEqual(treeOf(undisturbed));
    expect(perfect).toBe(files.size + 2);
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
    rmSync(undisturbed, { recursive: true, force: true });
  }
}, 120_000);
