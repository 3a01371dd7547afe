import { afterEach, expect, it, vi } from "vitest";
import { logMigration } from "../../src/migrations/migration-log.ts";
import { rename } from "./migrating-service.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("logs how far a migration is, at most every ten seconds", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const lines: string[] = [];
  const report = logMigration({ noted: (line) => void lines.push(line) }, rename, 3500);
  for (let part = 1; part <= 35; part += 1) {
    vi.advanceTimersByTime(999);
    report.part("items", 100);
  }
  report.done(3400);
  expect(lines).toEqual([
    "migration 1 (rename-titel) begins: 3500 documents",
    "migration 1 (rename-titel): 1100 of 3500 documents",
    "migration 1 (rename-titel): 2200 of 3500 documents",
    "migration 1 (rename-titel): 3300 of 3500 documents",
    "migration 1 (rename-titel) is done: 3400 documents changed",
  ]);
});
