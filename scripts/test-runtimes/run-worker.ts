import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { startProgram, type ProgramEnd } from "./start-program.ts";

/** A worker to try. */
export interface WorkerTrial {
  /** Absolute path of workerd. */
  readonly program: string;
  /** The project that has the packages and `program/`. */
  readonly project: string;
  readonly entry: string;
  /** The smoke test, or `import`. */
  readonly test: string;
  readonly peer: string;
  readonly limit: number;
}

// CommonJS modules ask for those of Node with `require`, which is not there unless somebody makes
// it.
const needsRequire = /\b__require\("/;
const require =
  'import { createRequire as makeRequire } from "node:module"; const require = makeRequire("file:///worker.js");';

const config = (file: string): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "main", esModule = embed "${file}")],
      compatibilityDate = "2026-11-01", globalOutbound = "network")),
    (name = "network", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/**
 * Bundles a smoke test as a worker is bundled, starts workerd with it, and asks it over its socket
 * to run.
 */
export async function runWorker(trial: WorkerTrial): Promise<ProgramEnd> {
  const { program, project, entry, test, peer, limit } = trial;
  const name = `worker${entry.replaceAll(/\W/g, "-")}-${test}`;
  try {
    await bundle(trial, join(project, `${name}.js`));
  } catch (error) {
    return { code: 1, output: `cannot be bundled: ${String(error)}` };
  }
  writeFileSync(join(project, `${name}.capnp`), config(`${name}.js`));
  const args = ["serve", "--control-fd=1", `${name}.capnp`];
  const worker = startProgram(program, { args, cwd: project, limit });
  try {
    const [, port] = await worker.line(/"port":\s*(\d+)/);
    const url = new URL(`http://127.0.0.1:${port}/fetchwork-smoke-test`);
    url.searchParams.set("peer", peer);
    const response = await fetch(url, { signal: AbortSignal.timeout(limit) });
    return { code: response.ok ? 0 : 1, output: await response.text() };
  } catch (error) {
    worker.kill();
    const { output } = await worker.ended;
    return { code: 1, output: `${output}\n${String(error)}` };
  } finally {
    worker.kill();
    await worker.ended;
  }
}

async function bundle({ project, entry, test }: WorkerTrial, file: string): Promise<void> {
  const text =
    test === "import"
      ? `import * as exported from ${JSON.stringify(entry)};
         export async function smoke() {
           if (Object.keys(exported).length === 0) throw new Error("exports nothing");
         }`
      : `export { smoke } from ${JSON.stringify(join(project, `program/smoke/${test}.ts`))};`;
  const build = await rolldown({
    cwd: project,
    input: join(project, "program/worker.ts"),
    external: /^(node|cloudflare):/,
    resolve: { conditionNames: ["workerd", "worker", "import", "default"] },
    logLevel: "silent",
    plugins: [
      {
        name: "fetchwork-smoke-test",
        resolveId: (id) =>
          id === "fetchwork-smoke-test" ? join(project, "program/smoke-test.js") : null,
        load: (id) => (id === join(project, "program/smoke-test.js") ? text : null),
      },
    ],
  });
  try {
    const { output } = await build.generate({ format: "es", codeSplitting: false });
    const [{ code }] = output;
    writeFileSync(file, needsRequire.test(code) ? `${require}\n${code}` : code);
  } finally {
    await build.close();
  }
}
