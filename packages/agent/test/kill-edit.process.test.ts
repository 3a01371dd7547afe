import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createAgent } from "../src/run/create-agent.ts";
import { editProvider, questionCount } from "./edit-process.ts";

const program = join(import.meta.dirname, "edit-process.ts");
const place = mkdtempSync(join(tmpdir(), "kill-edit-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const before: Readonly<Record<string, string>> = {
  "src/a.js": "\uFEFFexport const a = 1;\n",
  "src/b.js": "export const b = 1;\nexport const more = 7;\n",
  "notes.md": "# Notes\n\nMine.\n",
  "untouched.txt": "as it was\n",
};

/** A separate program for a round, and the log of the questions about it. */
function folderFor(name: string): { readonly out: string; readonly log: string } {
  const out = join(place, name);
  mkdirSync(join(out, "src"), { recursive: true });
  for (const [path, text] of Object.entries(before)) writeFileSync(join(out, path), text);
  const log = join(place, `${name}.log`);
  writeFileSync(log, "");
  return { out, log };
}

const questions = (log: string): number => readFileSync(log, "utf8").split("\n").length - 1;

/** Steps that it took until it was done; undefined: it was killed. */
function run(out: string, log: string, what: string, last: number): Promise<number | undefined> {
  const args = ["--conditions=@fetchwork/source", program, out, "e1", what, log, String(last)];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, stdout) => {
      if (error === null) resolve(Number(stdout));
      else if (error.signal === "SIGKILL") resolve(undefined);
      else reject(new Error("it did not end as it should", { cause: error }));
    });
  });
}

function treeOf(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith(".fetchwork/runs") && statSync(join(folder, path)).isFile(),
  );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** The whole entries of the journal, by type. */
function journalOf(out: string): readonly string[] {
  const path = join(out, ".fetchwork/runs/e1/journal.ndjson");
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => String((JSON.parse(line.slice(17)) as readonly unknown[])[1]));
}

/** Goes on, or begins again where the journal has no entry. */
function goOn(out: string, log: string): Promise<string> {
  const agent = createAgent({ provider: editProvider(log) });
  const begun = journalOf(out).includes("start");
  const handle = begun
    ? agent.resume("e1", { out })
    : agent.edit({ request: "double it", out, runId: "e1" });
  return handle.result.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "?"),
  );
}

const whole = folderFor("whole");
const total = (await run(whole.out, whole.log, "edit", Infinity)) ?? 0;
const perfect = treeOf(whole.out);

/** Rounds at places that are spread over the whole edit, by chance within each part of it. */
const rounds = Array.from({ length: 24 }, (_, at) => ({
  step: Math.min(total, 1 + Math.floor(((at + Math.random()) * total) / 24)),
}));

it("an edit is written without a fault when nobody ends it", () => {
  expect(total).toBeGreaterThan(30);
  expect(perfect.get("src/a.js")).toBe("\uFEFFexport const a = 2;\n");
  expect(perfect.get("src/new/c.js")).toBe("export const c = 2;\n");
  expect(questions(whole.log)).toBe(questionCount);
});

it.each(rounds)(
  "an edit has the same tree when killed at step $step, and pays for no answer twice that is written down",
  async ({ step }) => {
    const { out, log } = folderFor(`same-${step}-${Math.random()}`);
    expect(await run(out, log, "edit", step)).toBeUndefined();
    // Every other one is killed once more, wherever that is.
    if (step % 2 === 0 && journalOf(out).includes("start")) {
      await run(out, log, "resume", 1 + Math.floor(Math.random() * total));
    }
    const paid = questions(log);
    const answered = journalOf(out).filter((type) => type === "answer").length;
    expect(await goOn(out, log)).toBe("done");
    expect(questions(log) - paid).toBe(questionCount - answered);
    expect(treeOf(out)).toEqual(perfect);
    // A second time changes nothing.
    const again = questions(log);
    expect(await goOn(out, log)).toBe("done");
    expect([treeOf(out), questions(log)]).toEqual([perfect, again]);
  },
  60_000,
);

it.each(rounds.filter((_, at) => at % 3 === 0))(
  "an edit keeps what a person writes after it was killed at step $step",
  async ({ step }) => {
    const { out, log } = folderFor(`mine-${step}-${Math.random()}`);
    expect(await run(out, log, "edit", step)).toBeUndefined();
    const now = readFileSync(join(out, "src/b.js"), "utf8");
    writeFileSync(join(out, "src/b.js"), `${now}export const mine = true;\n`);
    writeFileSync(join(out, "untouched.txt"), "changed by me\n");
    const isAnswered = journalOf(out).includes("edit");
    const isOver = journalOf(out).includes("done");
    const ended = await goOn(out, log);
    // An answer that was made for another text is not written over it; one that is still to come
    // sees it.
    expect(ended).toBe(isAnswered && !isOver ? "ERR_AGENT_CONFLICT" : "done");
    const tree = treeOf(out);
    expect(tree.get("src/b.js")).toMatch(
      /b = [12];\nexport const more = 7;\nexport const mine = true;\n$/,
    );
    expect(tree.get("untouched.txt")).toBe("changed by me\n");
    expect(tree.get("notes.md")).toContain("Mine.\n");
  },
  60_000,
);
