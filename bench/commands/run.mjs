// Measures what a newcomer waits for: `fetchwork new`, `npm install`, the first answer, a change,
// `fetchwork add`, the tour.
//
//   npm run commands -- [rounds]          (it packs the packages of this repository, and needs the registry of npm)
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { freePort } from "../blog/start.mjs";
import { endWithUs } from "../harness/children.ts";
import { Part } from "../harness/part.ts";

const part = new Part("commands");
const rounds = part.settings.rounds ?? (part.settings.isQuick ? 1 : 2);
const root = path.resolve(import.meta.dirname, "../..");
const bin = path.join(root, "packages/fetchwork/bin/fetchwork.mjs");
/** The install is a separate step. */
const ASKED = ["--yes", "--skip-install"];
const ANSWER_TIME = 30_000;
const folder = mkdtempSync(path.join(os.tmpdir(), "bench-commands-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const steps = {
  new: "`fetchwork new`, which builds and packs the packages of this repository",
  packed: "the same once they are packed",
  install: "`npm install` in the project",
  dev: "`npm run dev` to the first answer",
  reload: "a change of a file to the first answer that shows it, while `npm run dev` runs",
  add: "`fetchwork add` to the first answer of the new resource, while `npm run dev` runs",
  tour: "`npm run tour` in this repository, once the packages are packed",
};
const times = Object.fromEntries(Object.keys(steps).map((step) => [step, []]));
for (let round = 0; round < rounds; round += 1) await measure(path.join(folder, `round-${round}`));
const group = "From nothing to an answer";
for (const [step, work] of Object.entries(steps)) {
  part.addOwn({ group, work, unit: "s" }, times[step]);
}
const whole = times.new.map((time, round) => time + times.install[round] + times.dev[round]);
part.addOwn({ group, work: "from `fetchwork new` to the first answer", unit: "s" }, whole);
part.close();

async function measure(parent) {
  const project = `${parent}-api`;
  rmSync(path.join(root, "node_modules/.cache/fetchwork-tarballs"), {
    recursive: true,
    force: true,
  });
  times.new.push(await timed(() => run([process.execPath, bin, "new", project, ...ASKED], root)));
  times.packed.push(
    await timed(() => run([process.execPath, bin, "new", `${parent}-other`, ...ASKED], root)),
  );
  times.tour.push(await timed(() => run(["npm", "run", "tour"], root)));
  times.install.push(await timed(() => run(["npm", "install"], project)));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = { ...environment(), PORT: String(port), IP: "127.0.0.1" };
  let server;
  try {
    times.dev.push(
      await timed(async () => {
        const options = { cwd: project, env, stdio: "ignore", detached: true };
        server = spawn("npm", ["run", "dev"], options);
        process.once("exit", () => endGroup(server));
        await answers(`${origin}/health`);
      }),
    );
    times.reload.push(await timed(() => change(project, origin)));
    const add = ["npx", "fetchwork", "add", "note", "title:string!"];
    times.add.push(
      await timed(async () => {
        await run(add, project);
        await answers(`${origin}/notes`);
      }),
    );
  } finally {
    if (server?.pid !== undefined) {
      const ended = once(server, "exit");
      endGroup(server);
      await ended;
    }
  }
}

/** Sets another title of the API, and waits until its OpenAPI document has it. */
async function change(project, origin) {
  const about = path.join(project, "src/about.ts");
  const text = readFileSync(about, "utf8");
  writeFileSync(about, text.replace(/title: "[^"]+"/, 'title: "Changed"'));
  await answers(`${origin}/openapi.json`, '"title":"Changed"');
}

/** npm with what it started. */
function endGroup({ pid }) {
  try {
    process.kill(-pid, "SIGTERM");
  } catch {
    // Nobody is left.
  }
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

/** The command of npm would otherwise answer as if it had been called by the one that runs this. */
function environment() {
  const entries = Object.entries(process.env);
  return Object.fromEntries(entries.filter(([name]) => !/^npm_|^CI$/i.test(name)));
}

async function run([command, ...args], cwd) {
  const stdio = ["ignore", "pipe", "pipe"];
  const options = { cwd, env: environment(), stdio, timeout: 120_000 };
  const child = endWithUs(spawn(command, args, options), { mayFail: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => void (output += text));
  }
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
}

async function answers(url, expected = "") {
  const end = performance.now() + ANSWER_TIME;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    if (answer?.ok && text?.includes(expected)) return;
    if (performance.now() > end) throw new Error(`${url} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
