import { fork } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

describe("a request built from the OpenAPI document", () => {
  it("leaves no memory behind, 20,000 times", async () => {
    const child = fork(join(import.meta.dirname, "memory-process.ts"), {
      execArgv: ["--conditions=@fetchwork/source", "--expose-gc"],
    });
    const result = await new Promise<{ growth: number; failures: number }>((resolve, reject) => {
      child.once("message", (message) => resolve(message as { growth: number; failures: number }));
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`the process ended with ${code}`)));
    });
    expect(result.failures).toBe(0);
    expect(result.growth).toBeLessThan(3_000_000);
  }, 60_000);
});
