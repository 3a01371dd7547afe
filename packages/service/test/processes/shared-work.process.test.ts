import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from "../../../documents/test/postgres-server.ts";
import { childrenOf } from "./children-of.ts";
import { createProject, startProgram } from "./service-program.ts";

const patient = { timeout: 40_000 };

describe.skipIf(noPostgres !== undefined)("three processes on PostgreSQL", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  it("run a job once at each time of its schedule", { timeout: 120_000 }, async () => {
    const origin = await started({});
    const runs = async (): Promise<readonly { readonly at: number }[]> => {
      const response = await fetch(`${origin}/runs?sort=createdAt&limit=100`);
      return response.json();
    };
    // It is due every two seconds.
    await expect.poll(async () => (await runs()).length, patient).toBeGreaterThanOrEqual(5);
    const times = (await runs()).map(({ at }) => at);
    const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
    expect(times.length - 1).toBeLessThanOrEqual(Math.ceil(seconds / 2) + 1);
  });

  it("count the sign-ins of an address together", { timeout: 120_000 }, async () => {
    const origin = await started({ SIGN_IN_LIMIT: "8", SIGN_IN_FAILURES: "0" });
    const pids = new Set<number>();
    await expect
      .poll(async () => {
        const response = await fetch(`${origin}/process`, { headers: { connection: "close" } });
        pids.add((await response.json()).pid);
        return pids.size;
      }, patient)
      .toBe(3);
    const statuses = await Promise.all(
      Array.from({ length: 24 }, async (_, client) => {
        const { status } = await fetch(`${origin}/auth`, {
          method: "POST",
          headers: {
            authorization: `Basic ${btoa(`eve${client}@example.com:wrong`)}`,
            connection: "close",
          },
        });
        return status;
      }),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 8 }, () => 401),
      ...Array.from({ length: 16 }, () => 429),
    ]);
  });

  async function started(settings: Readonly<Record<string, string>>): Promise<string> {
    const DATABASE_URL = await postgres.create();
    const environment = { DATABASE_URL, PROCESSES: "3", ...settings };
    const program = startProgram(createProject(), environment);
    const origin = await program.origin;
    await expect.poll(() => childrenOf(program.pid), patient).toHaveLength(3);
    return origin;
  }
});
