import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from "../../../documents/test/postgres-server.ts";
import { childrenOf } from "./children-of.ts";
import { createProject, startProgram } from "./service-program.ts";

interface Shown {
  readonly pid: number;
  readonly code: string;
  readonly label: string;
}

const patient = { timeout: 90_000 };

describe.skipIf(noPostgres !== undefined)("several processes on PostgreSQL", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  it(
    "lose no request of 20 clients on kept connections while they are replaced three times at SIGHUP",
    { timeout: 300_000 },
    async () => {
      const { program, origin } = await started({});
      let isOver = false;
      let count = 0;
      const client = async (): Promise<void> => {
        // With a pool for all, some connections would have no request for long: one that arrives
        // when such a connection ends is lost whatever a server does.
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        onTestFinished(() => agent.destroy());
        while (!isOver) {
          await show(origin, agent);
          count += 1;
          // Leaves the processors time to start processes.
          await pause(5);
        }
      };
      const load = Promise.all(Array.from({ length: 20 }, client));
      const isLost = load.then(() => expect.unreachable("the load ended by itself"));
      isLost.catch(() => undefined);
      for (let round = 0; round < 3; round += 1) {
        const before = childrenOf(program.pid);
        program.child.kill("SIGHUP");
        await Promise.race([replaced(program.pid, before), isLost]);
      }
      isOver = true;
      await load;
      expect(count).toBeGreaterThan(1_000);
      expect(program.printed()).not.toMatch(/ended|rror/);
      program.child.kill("SIGTERM");
      expect(await program.end).toEqual({ code: 0, signal: null });
    },
  );

  it("take the code and .env again from the disk at SIGHUP", { timeout: 120_000 }, async () => {
    const { program, origin, project } = await started({ LABEL: "old" });
    expect(await show(origin)).toMatchObject({ code: "first", label: "old" });
    project.write("second");
    project.set({ LABEL: "new" });
    const before = childrenOf(program.pid);
    program.child.kill("SIGHUP");
    await replaced(program.pid, before);
    expect(await show(origin)).toMatchObject({ code: "second", label: "new" });
  });

  it("go on when the new code cannot start", { timeout: 120_000 }, async () => {
    const { program, origin, project } = await started({});
    const before = childrenOf(program.pid);
    project.set({ SIGN_IN_LIMIT: "many" });
    program.child.kill("SIGHUP");
    await expect.poll(program.printed, patient).toMatch(/before it served: no restart/);
    expect(program.printed().match(/counted: SIGN_IN_LIMIT must be .*, got "many"/g)).toHaveLength(
      1,
    );
    expect(childrenOf(program.pid)).toEqual(before);
    expect(await show(origin)).toMatchObject({ code: "first" });

    project.set({});
    program.child.kill("SIGHUP");
    await replaced(program.pid, before);
  });

  it(
    "replace one that is killed under load, while the others go on",
    { timeout: 120_000 },
    async () => {
      const { program, origin } = await started({});
      const agent = new Agent({ keepAlive: true, maxSockets: 20 });
      onTestFinished(() => agent.destroy());
      let isOver = false;
      let failed = 0;
      const seen = new Set<number>();
      const client = async (): Promise<void> => {
        while (!isOver) {
          try {
            seen.add((await show(origin, agent)).pid);
          } catch {
            failed += 1;
          }
          await pause(5);
        }
      };
      const load = Promise.all(Array.from({ length: 20 }, client));
      await expect.poll(() => seen.size, patient).toBe(3);
      const before = childrenOf(program.pid);
      const [victim = 0, ...others] = before;
      process.kill(victim, "SIGKILL");
      await expect
        .poll(() => childrenOf(program.pid).filter((pid) => !before.includes(pid)), patient)
        .toHaveLength(1);
      expect(childrenOf(program.pid)).toEqual(expect.arrayContaining(others));
      // Connections of the other processes are kept, so they are closed for the new one to get
      // some.
      await expect
        .poll(async () => {
          seen.add((await show(origin)).pid);
          return seen.size;
        }, patient)
        .toBe(4);
      isOver = true;
      await load;
      // Each client has one connection, and a third of them were with the process that ended.
      expect(failed).toBeLessThanOrEqual(20);
      expect(program.printed()).toContain(
        `process ${victim} ended with SIGKILL, another one takes its place`,
      );
    },
  );

  it("are started with growing pauses when they end soon", { timeout: 120_000 }, async () => {
    const { program, project } = await started({});
    project.write("first");
    project.set({ SIGN_IN_LIMIT: "many" });
    const [victim = 0] = childrenOf(program.pid);
    process.kill(victim, "SIGKILL");
    const ends = (): readonly number[] => timesOf(program.printed(), "takes its place");
    await expect.poll(() => ends().length, patient).toBeGreaterThanOrEqual(5);
    const [, ...failed] = ends();
    const gaps = failed.slice(1).map((end, index) => end - (failed[index] ?? 0));
    for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(500 * 2 ** index);
    program.child.kill("SIGTERM");
    const stoppedAt = performance.now();
    expect(await program.end).toEqual({ code: 0, signal: null });
    expect(performance.now() - stoppedAt).toBeLessThan(5_000);
  });

  async function started(variables: Readonly<Record<string, string>>): Promise<{
    readonly origin: string;
    readonly program: ReturnType<typeof startProgram>;
    readonly project: ReturnType<typeof createProject>;
  }> {
    const project = createProject();
    project.set(variables);
    const DATABASE_URL = await postgres.create();
    const program = startProgram(project, { DATABASE_URL, PROCESSES: "3", LOG: "json" });
    const origin = await program.origin;
    await expect.poll(() => program.printed().match(/listening/g), patient).toHaveLength(3);
    return { origin, program, project };
  }
});

/** When the log says something, in milliseconds. */
function timesOf(log: string, said: string): readonly number[] {
  const lines = log.split("\n").filter((line) => line.includes(said));
  return lines.map((line) => new Date((JSON.parse(line) as { time: number }).time).getTime());
}

/** Waits until none of some children is there, and three others are. */
async function replaced(pid: number, before: readonly number[]): Promise<void> {
  await expect
    .poll(() => {
      const now = childrenOf(pid);
      return [now.length, now.filter((child) => before.includes(child)).length];
    }, patient)
    .toEqual([3, 0]);
}

function show(origin: string, agent?: Agent): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const asked = request(`${origin}/process`, { agent: agent ?? false }, (response) => {
      text(response).then((body) => {
        if (response.statusCode === 200) resolve(JSON.parse(body) as Shown);
        else reject(new Error(`responded with ${response.statusCode}`));
      }, reject);
    });
    asked.setTimeout(10_000, () => asked.destroy(new Error("timed out")));
    asked.on("error", reject).end();
  });
}
