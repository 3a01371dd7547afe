import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resumeLine } from "../../../src/agent/view/resume-line.ts";
import { memoryIo } from "../../memory-io.ts";

describe("resumeLine", () => {
  it("has the options as they were given, without those of the first run alone", () => {
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

  it("begins with npx for whoever began with npx", () => {
    const io = memoryIo({ env: { npm_command: "exec" } });
    expect(resumeLine({ runId: "r1", out: "x", values: {} }, io)).toBe(
      "npx fetchwork agent resume r1 --out x",
    );
  });

  it("joins a value that begins like an option to its own", () => {
    expect(resumeLine({ runId: "r1", out: "-x y", values: {} }, memoryIo())).toBe(
      "fetchwork agent resume r1 --out='-x y'",
    );
  });

  it("is read by a shell as it was meant, whatever the folder is called", () => {
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
