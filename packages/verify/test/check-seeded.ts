import { describe, expect, it } from "vitest";
import { verifyService } from "../src/index.ts";
import { raceFaults } from "./seeded-races.ts";
import { readFaults } from "./seeded-reads.ts";
import { writeFaults } from "./seeded-writes.ts";

/** Tests that the seeded faults at some places of their list are found, and that nothing is once they are repaired. */
export function checkSeeded(isChosen: (index: number) => boolean): void {
  const faults = [...readFaults, ...writeFaults, ...raceFaults];
  const chosen = faults
    .filter((_, index) => isChosen(index))
    .map((one) => [one.name, one] as const);
  describe("verifyService() finds what users write wrong, and nothing once it is repaired", () => {
    it.each(chosen)(
      "%s",
      { timeout: 60_000 },
      async (_, { expected, faulty, invariants = [], repaired }) => {
        const { findings } = await verifyService(faulty(), { invariants });
        expect(findings).toContainEqual(expect.objectContaining(expected));
        for (const { fix, request } of findings) expect([fix, request.method]).not.toContain("");
        expect((await verifyService(repaired(), { invariants })).findings).toEqual([]);
      },
    );
  });
}
