import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { newDatabase } from "../../documents/test/open-for-test.ts";
import { noPostgres } from "../../documents/test/postgres-server.ts";
import { invariant, verifyService } from "../src/index.ts";
import { app as blog } from "../../../examples/blog/src/app.ts";
import { alike, faulty, repaired } from "./sales-services.ts";

const module = join(import.meta.dirname, "sales-services.ts");
const timeout = 300_000;

/** Where second processes write their identifiers, in a folder that has the temporary files too. */
async function processLog(): Promise<{ readonly folder: string; readonly log: string }> {
  const folder = await mkdtemp(join(tmpdir(), "verify-killed-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("TMPDIR", folder);
  vi.stubEnv("SALES_PROCESSES", join(folder, "processes"));
  return { folder, log: join(folder, "processes") };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it(
  "verifyService() finds by second processes that it kills what a hook changes without a transaction",
  { timeout },
  async () => {
    const { folder, log } = await processLog();
    const { findings } = await verifyService(faulty, { module, invariants: [alike] });
    // A process that was killed has not responded.
    const expected = { code: "invariant-broken", way: "crash create sale", status: 503 };
    expect(findings).toEqual([expect.objectContaining(expected)]);
    const processes = (await readFile(log, "utf8")).trim().split("\n").map(Number);
    expect(new Set(processes).size).toBeGreaterThan(1);
    expect(processes).not.toContain(process.pid);
    expect(processes.filter(isRunning)).toEqual([]);
    expect(await readdir(folder)).toEqual(["processes"]);
  },
);

it(
  "verifyService() finds nothing once the changes are in the transaction",
  { timeout },
  async () => {
    const { log } = await processLog();
    const { findings } = await verifyService(repaired, { module, invariants: [alike] });
    expect(findings).toEqual([]);
    // It was killed before the transaction was committed.
    expect((await readFile(log, "utf8")).trim().split("\n").length).toBeGreaterThan(1);
  },
);

it.skipIf(noPostgres !== undefined)(
  "verifyService() kills second processes on a database of PostgreSQL",
  { timeout },
  async () => {
    const databases = [await newDatabase(), await newDatabase()] as const;
    const { log } = await processLog();
    const options = { module, invariants: [alike] };
    const ofFaulty = await verifyService(faulty, { ...options, database: databases[0] });
    expect(ofFaulty.findings).toMatchObject([{ code: "invariant-broken", status: 503 }]);
    const ofRepaired = await verifyService(repaired, { ...options, database: databases[1] });
    expect(ofRepaired.findings).toEqual([]);
    const processes = (await readFile(log, "utf8")).trim().split("\n").map(Number);
    expect(processes.filter(isRunning)).toEqual([]);
  },
);

it("verifyService() finds nothing in the blog while it kills it", { timeout }, async () => {
  const article = blog.resources.find(({ name }) => name === "article");
  if (article === undefined) throw new Error("the blog has articles");
  const app = join(import.meta.dirname, "../../../examples/blog/src/app.ts");
  const kept = invariant("the title is kept", article, ({ title }) => title);
  const { findings } = await verifyService(blog, { module: app, invariants: [kept] });
  expect(findings).toEqual([]);
});

it("verifyService() refuses a module that does not export the service", { timeout }, async () => {
  const options = { module: join(import.meta.dirname, "seeded.ts"), invariants: [alike] };
  await expect(verifyService(repaired, options)).rejects.toThrow(
    "seeded.ts: it does not export repaired-sales",
  );
});
