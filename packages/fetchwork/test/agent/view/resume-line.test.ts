import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resumeLine } from "../../../src/agent/view/resume-line.ts";
import { memoryIo } from "../../memory-io.ts";

describe("resumeLine", () => {
  it("repeats the given options except those of the first run", () => {
    const values = {
      prompt: "secret plan",
      plan: "plan.md",
      out: "x",
      "dry-run": true,
      json: true,
      verify: "true",
      price: ["a=1,2", "3,4"],
      model: undefined,
    };
    expect(resumeLine({ runId: "r1", out: "x", values }, memoryIo())).toBe(
      "fetchwork agent resume r1 --out x --json --verify true --price a=1,2 --price 3,4",
    );
  });

  it("begins with npx if the command was run with npx", () => {
    const io = memoryIo({ env: { npm_command: "exec" } });
    expect(resumeLine({ runId: "r1", out: "x", values: {} }, io)).toBe(
      "npx fetchwork agent resume r1 --out x",
    );
  });

  it("joins a value that begins with a dash to its option with =", () => {
    expect(resumeLine({ runId: "r1", out: "-x y", values: {} }, memoryIo())).toBe(
      "fetchwork agent resume r1 --out='-x y'",
    );
  });

  it("is quoted for a shell, whatever the folder's name", () => {
    const word = fc
      .string({ minLength: 1, unit: "grapheme" })
      .filter((text) => !text.startsWith("-") && !text.includes("\0"));
    fc.assert(
      fc.property(word, (out) => {
        const line = resumeLine({ runId: "r1", out, values: {} }, memoryIo());
        const read = execFileSync("sh", ["-c", `printf '%s|' ${line}`], { encoding: "utf8" });
        expect(read).toBe(`fetchwork|agent|resume|r1|--out|${out}|`);
      }),
      { numRuns: 30 },
    );
  });
});
