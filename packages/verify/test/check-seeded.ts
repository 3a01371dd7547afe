import { describe, expect, it } from "vitest";
import { compareBaseline, verifyService } from "../src/index.ts";
import { accountFaults } from "./other-hand-accounts.ts";
import { askFaults } from "./other-hand-asks.ts";
import { furtherRaceFaults } from "./other-hand-races.ts";
import { hookFaults, viewFaults } from "./other-hand-views.ts";
import { ownershipFaults, routeFaults } from "./other-hand-writes.ts";
import { raceFaults } from "./seeded-races.ts";
import { readFaults } from "./seeded-reads.ts";
import { writeFaults } from "./seeded-writes.ts";
import { ticketFaults } from "./ticket-faults.ts";

const faults = [
  ...readFaults,
  ...writeFaults,
  ...raceFaults,
  ...viewFaults,
  ...hookFaults,
  ...routeFaults,
  ...ownershipFaults,
  ...askFaults,
  ...accountFaults,
  ...furtherRaceFaults,
  ...ticketFaults,
];

/** Tests that some of the seeded faults are found, and that nothing is found without them. */
export function checkSeeded(isChosen: (index: number) => boolean): void {
  const chosen = faults
    .filter((_, index) => isChosen(index))
    .map((one) => [one.name, one] as const);
  describe("verifyService() finds what users write wrong, and nothing once it is repaired", () => {
    it.each(chosen)(
      "%s",
      { timeout: 60_000 },
      async (_, { expected, faulty, invariants = [], opened, repaired }) => {
        const report = await verifyService(faulty(), { invariants });
        for (const { fix, request } of report.findings)
          expect([fix, request.method]).not.toContain("");
        if (expected) expect(report.findings).toContainEqual(expect.objectContaining(expected));
        const baseline = await verifyService(repaired(), { invariants });
        expect(baseline.findings).toEqual([]);
        if (opened) expect(compareBaseline(report, baseline).opened).toContain(opened);
      },
    );
  });
}
