import { describe, expect, it } from "vitest";
import { verifyService } from "../src/index.ts";
import { readFaults } from "./seeded-reads.ts";
import { raceFaults } from "./seeded-races.ts";
import { writeFaults } from "./seeded-writes.ts";

describe("verifyService() finds what users write wrong, and nothing once it is repaired", () => {
  it.each([...readFaults, ...writeFaults, ...raceFaults].map((one) => [one.name, one] as const))(
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
