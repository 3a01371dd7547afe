// Engines, each in a separate process: starts them, asks them for a work, compares their answers,
// and ends them.
import { deepStrictEqual } from "node:assert";
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { endWithUs } from "../harness/children.ts";

// A caller that waits for a process that failed goes on, so that folders and servers are removed.
const failed = new AbortController();

/** Starts engines with the same settings and separate options, and loads them. */
export async function startEngines(names, { optionsOf, ...settings }) {
  const engines = new Map();
  for (const name of names) {
    const said = JSON.stringify({ name, ...settings, options: optionsOf(name) });
    const child = endWithUs(
      fork(path.join(import.meta.dirname, "engine.mjs"), [said], {
        execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
      }),
    );
    child.once("exit", (code) => {
      if (code === 0) return;
      console.error(`${name} ended with ${code}`);
      failed.abort();
    });
    const [loading] = await once(child, "message", { signal: failed.signal });
    engines.set(name, { child, loading });
  }
  return engines;
}

export async function endEngines(engines) {
  for (const { child } of engines.values()) {
    child.send({ work: "end" });
    await once(child, "exit");
  }
}

/** What `Part` needs to let engines do a task in turn. */
export function sampling(engines, task, timing) {
  const measure = async (name) => {
    const result = await ask(engines.get(name), task);
    return result === null ? undefined : { value: result.cpu, rate: result.rate };
  };
  return { names: [...engines.keys()], measure, ...timing };
}

/** Lets an engine do a task. */
export async function ask({ child }, task) {
  child.send(task);
  const [result] = await once(child, "message", { signal: failed.signal });
  return result;
}

/** All engines give the answers of the first one, as far as they give any. */
export async function check(engines) {
  let first;
  for (const [name, engine] of engines) {
    const answers = await ask(engine, { work: "check" });
    first ??= answers;
    for (const [work, answer] of Object.entries(answers)) {
      deepStrictEqual(answer, first[work], `${name} answers ${work} differently`);
    }
  }
}
