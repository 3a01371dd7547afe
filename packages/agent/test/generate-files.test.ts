import { describe, expect, it } from "vitest";
import type { FileSpec } from "../src/project/project-plan.ts";
import { generateFiles } from "../src/run/generate-files.ts";

/** `a: b c` is a file `a` that uses `b` and `c`. */
function specs(...lines: readonly string[]): readonly FileSpec[] {
  return lines.map((line) => {
    const [path = "", uses = ""] = line.split(": ");
    const dependsOn = uses === "" ? [] : uses.split(" ");
    return { path, purpose: "", dependsOn, exports: [], domIds: [] };
  });
}

/** Writes each file in a separate turn; notes what begins and what ends. */
function writer() {
  const log: string[] = [];
  let running = 0;
  let peak = 0;
  const write = async ({ path }: FileSpec): Promise<void> => {
    log.push(`+${path}`);
    peak = Math.max(peak, (running += 1));
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    log.push(`-${path}`);
  };
  return { log, write, peak: () => peak };
}

describe("generateFiles", () => {
  it("writes files that use each other, though none can be first", async () => {
    const { log, write } = writer();
    await generateFiles(specs("a: b", "b: c", "c: a", "d: a"), 4, write);
    expect(log.filter((line) => line.startsWith("-")).toSorted()).toEqual(["-a", "-b", "-c", "-d"]);
    expect(log.indexOf("+d")).toBeGreaterThan(log.indexOf("-a"));
  });

  it("writes a file that uses itself, one that is not there, or the same twice", async () => {
    const { log, write } = writer();
    await generateFiles(specs("a: a", "b: gone", "c: a a"), 1, write);
    expect(log).toEqual(["+a", "-a", "+b", "-b", "+c", "-c"]);
  });

  it("begins a file as soon as what it uses is written, not when its level is", async () => {
    const { log, write } = writer();
    const slow = Promise.withResolvers<undefined>();
    const done = generateFiles(specs("a", "slow", "b: a"), 2, async (file) => {
      if (file.path !== "slow") return write(file);
      await slow.promise;
    });
    while (!log.includes("-b")) await new Promise((resolve) => setImmediate(resolve));
    slow.resolve(undefined);
    await done;
    expect(log).toEqual(["+a", "-a", "+b", "-b"]);
  });

  it("writes as many at a time as are allowed, and no more", async () => {
    const { write, peak } = writer();
    await generateFiles(specs("a", "b", "c", "d", "e", "f", "g"), 3, write);
    expect(peak()).toBe(3);
  });

  it("begins none after a failure, and waits for those that run", async () => {
    const { log, write } = writer();
    const failing = generateFiles(specs("a", "b", "c", "d"), 2, async (file) => {
      if (file.path === "a") throw new Error("no answer for a");
      await write(file);
    });
    await expect(failing).rejects.toThrow("no answer for a");
    expect(log).toEqual(["+b", "-b"]);
  });
});
