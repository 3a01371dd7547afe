// Tries the packages, as they are published, on every runtime that they claim, and writes down what
// runs where.
import "../require-node.cjs";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { installTarballs, packPackages } from "../pack-packages.mjs";
import { claims, type Claim } from "./claims.ts";
import { installRuntimes } from "./install-runtimes.ts";
import { recordOf, writeRecord } from "./record.ts";
import { runtimes, type Runtime } from "./runtimes.ts";
import { startProgram } from "./start-program.ts";
import { tryClaim, type Laboratory } from "./try-claim.ts";

const started = performance.now();
const isCI = process.env["CI"] === "true";
// For work on one of them: `npm run test:runtimes -- http deno` tries what has both words in its
// name, and writes nothing.
const words = process.argv.slice(2);
const isWanted = ({ test }: Claim, { id }: Runtime): boolean =>
  words.every((word) => test.includes(word) || id.includes(word));

const temporary = mkdtempSync(join(tmpdir(), "fetchwork-runtimes-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const folder = installRuntimes();
say("the runtimes are there");
const project = join(temporary, "project");
installTarballs(packPackages(temporary), project);
cpSync(join(import.meta.dirname, "program"), join(project, "program"), { recursive: true });
say("the tarballs are installed");

const peer = startProgram(process.execPath, {
  args: ["program/peer.ts"],
  cwd: project,
  limit: 600_000,
});
process.on("exit", () => peer.kill());
const [origin] = await peer.line(/http:\S+/);
const laboratory: Laboratory = { runtimes: folder, project, peer: origin, limit: 60_000 };

const faults: string[] = [];
const trials = claims
  .flatMap((claim) => runtimes.map((runtime) => ({ claim, runtime })))
  .filter(({ claim, runtime }) => isWanted(claim, runtime));
await Promise.all(Array.from({ length: availableParallelism() }, work));
peer.kill();
await peer.ended;

const total = claims.length * runtimes.length;
if (faults.length > 0) {
  console.error(`\n${faults.join("\n\n")}\n\n${faults.length} of ${total} claims do not hold`);
  process.exitCode = 1;
} else if (words.length === 0) {
  const stale = await writeRecord(recordOf(claims), { isCI });
  if (stale.length > 0) {
    console.error(`not what was recorded: ${stale.join(", ")}; run npm run test:runtimes`);
    process.exitCode = 1;
  }
  say(`${total} claims hold`);
}

async function work(): Promise<void> {
  for (let next = trials.shift(); next !== undefined; next = trials.shift()) {
    const { claim, runtime } = next;
    const { entry, except } = claim;
    const exception = except?.[runtime.id];
    const expected = exception === undefined ? "runs" : exception.imports ? "imports" : "fails";
    const { outcome, output } = await tryClaim(claim, runtime, laboratory);
    const found = `${runtime.name}: ${entry}: ${outcome}`;
    console.log(outcome === expected ? found : `FAULT ${found}, expected: ${expected}`);
    if (words.length > 0 && output !== "") console.log(output.trim());
    if (outcome !== expected) faults.push(`${found}, expected: ${expected}\n${output.trim()}`);
  }
}

function say(what: string): void {
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s: ${what}`);
}
