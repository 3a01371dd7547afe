// Applies the same 500 edits by the agent's `edit` tool and, in its two formats, by the code of
// aider.
//
//   npm run agent-edits
//
// The sources of aider are fetched by git at a fixed commit, or AIDER names a folder with them;
// nothing of them stays. They need Python with the package diff-match-patch (PYTHON names the
// command; default: python3). Without them only ours is measured.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { applyEdit } from "../../packages/agent/src/files/apply-edits.ts";
import { Part } from "../harness/part.ts";
import { sampleEdits } from "./sample-edits.mjs";

const AIDER = "https://github.com/Aider-AI/aider";
const COMMIT = "5dc9490bb35f9729ef2c95d00a19ccd30c26339c";
const OUTCOMES = ["applied rightly", "refused rightly", "refused wrongly", "applied wrongly"];

const part = new Part("agent-edits");
const edits = sampleEdits();
const appliers = new Map([["fetchwork", edits.map(applyOurs)]]);
await part.attempt("aider", () => {
  const results = applyWithAider();
  appliers.set(
    "aider, SEARCH/REPLACE",
    results.map(({ blocks }) => blocks),
  );
  appliers.set(
    "aider, unified diff",
    results.map(({ diff }) => diff),
  );
  part.usesVersion("aider", COMMIT.slice(0, 10));
});

const all = `All ${edits.length} edits`;
for (const outcome of OUTCOMES) {
  addCounts({ group: all, work: outcome, unit: "edits" }, edits, (counts) => ({
    value: counts.get(outcome),
  }));
}
for (const [kind, list] of Map.groupBy(edits, (edit) => edit.kind)) {
  const name = {
    group: `${kind}: ${list.length} edits`,
    work: "applied or refused",
    unit: "right",
  };
  addCounts(name, list, (counts) => ({
    value: counts.get("applied rightly") + counts.get("refused rightly"),
    more: Object.fromEntries(counts),
  }));
}
part.close();

function addCounts(name, list, sampleOf) {
  const samples = [...appliers].map(([applier, texts]) => {
    const counts = new Map(OUTCOMES.map((outcome) => [outcome, 0]));
    for (const edit of list) {
      const outcome = outcomeOf(edit, texts[edits.indexOf(edit)]);
      counts.set(outcome, counts.get(outcome) + 1);
    }
    return [applier, [sampleOf(counts)]];
  });
  part.add({ ...name, isCount: true }, new Map(samples));
}

function outcomeOf({ meant, isLoose }, text) {
  if (text === null) return meant === undefined ? "refused rightly" : "refused wrongly";
  const clean = (lines) => (isLoose ? lines.map((line) => line.trimEnd()) : lines).join("\n");
  const isMeant = meant !== undefined && clean(text.split("\n")) === clean(meant);
  return isMeant ? "applied rightly" : "applied wrongly";
}

/** Lines that are searched for, or what comes in their place. */
function linesOf({ diff }, without) {
  return diff.filter(([op]) => op !== without).map((line) => line.slice(1));
}

/** Half of the models end what they search for with the end of its last line. */
function applyOurs(edit, index) {
  const end = index % 2 === 0 ? "\n" : "";
  const [search, replace] = [linesOf(edit, "+"), linesOf(edit, "-")];
  const text = edit.file.join("\n");
  const outcome = applyEdit(text, search.join("\n") + end, replace.join("\n") + end);
  return outcome.ok ? outcome.text : null;
}

/** Answers in the formats that aider asks models for. */
function applyWithAider() {
  const answers = edits.map((edit) => ({
    text: edit.file.join("\n"),
    blocks: [
      "module.ts",
      "```typescript",
      "<<<<<<< SEARCH",
      ...linesOf(edit, "+"),
      "=======",
      ...linesOf(edit, "-"),
      ">>>>>>> REPLACE",
      "```",
      "",
    ].join("\n"),
    diff: ["```diff", "--- module.ts", "+++ module.ts", "@@ ... @@", ...edit.diff, "```", ""].join(
      "\n",
    ),
  }));
  const script = path.join(import.meta.dirname, "apply_with_aider.py");
  const output = execFileSync(process.env.PYTHON ?? "python3", [script, aiderFolder()], {
    input: JSON.stringify(answers),
    encoding: "utf8",
    maxBuffer: 256 << 20,
    timeout: 600_000,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  return JSON.parse(output);
}

function aiderFolder() {
  if (process.env.AIDER) return path.resolve(process.env.AIDER);
  const folder = mkdtempSync(path.join(os.tmpdir(), "bench-aider-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const git = (...args) => execFileSync("git", args, { cwd: folder, stdio: "ignore" });
  git("init", "--quiet");
  git("fetch", "--quiet", "--depth", "1", AIDER, COMMIT);
  git("checkout", "--quiet", "FETCH_HEAD");
  return folder;
}
