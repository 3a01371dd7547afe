import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from "../../../documents/test/postgres-server.ts";
import { childrenOf, isRunning } from "./children-of.ts";
import { createProject, startProgram } from "./service-program.ts";

const patient = { timeout: 30_000 };

it("a service refuses several processes on SQLite, and says why in one line", async () => {
  const { end, printed } = startProgram(createProject(), { PROCESSES: "3" });
  expect(await end).toEqual({ code: 1, signal: null });
  expect(printed()).toBe(
    "counted: PROCESSES is 3, but SQLite has one writer, so one process is right there and serves thousands of requests per second; for more set DATABASE_URL to PostgreSQL\n",
  );
});

it.each(["0", "257", "two", "1.5", "-1"])("a service refuses PROCESSES=%s", async (PROCESSES) => {
  const { end, printed } = startProgram(createProject(), { PROCESSES });
  expect(await end).toEqual({ code: 1, signal: null });
  expect(printed()).toBe(
    `counted: PROCESSES must be a whole number from 1 to 256, or auto, got "${PROCESSES}"\n`,
  );
});

describe.skipIf(noPostgres !== undefined)("on PostgreSQL", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  it("prints once that the port is in use, and ends with 1", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const { end, printed } = startProgram(createProject(), {
      DATABASE_URL: await postgres.create(),
      PROCESSES: "3",
      PORT: String(port),
    });
    expect(await end).toEqual({ code: 1, signal: null });
    expect(printed()).toBe(
      `counted: port ${port} of 127.0.0.1 is in use by another process (EADDRINUSE); set PORT to another\n`,
    );
    taken.close();
  });

  it("says how the first process ended when that could not", async () => {
    const project = createProject();
    const DATABASE_URL = await postgres.create();
    const program = startProgram(project, { DATABASE_URL, PROCESSES: "2" });
    await expect.poll(() => childrenOf(program.pid), patient).toHaveLength(1);
    for (const pid of childrenOf(program.pid)) process.kill(pid, "SIGKILL");
    expect(await program.end).toEqual({ code: 1, signal: null });
    expect(program.printed()).toBe("counted: the first process ended before it served: SIGKILL\n");
  });

  it("serves in each process, and greets once", async () => {
    const project = createProject();
    project.set({ PROCESSES: "3", DATABASE_URL: await postgres.create() });
    const program = startProgram(project, {});
    const origin = await program.origin;
    await expect.poll(() => childrenOf(program.pid), patient).toHaveLength(3);
    const pids = new Set<number>();
    await expect
      .poll(async () => {
        const response = await fetch(`${origin}/process`, { headers: { connection: "close" } });
        pids.add((await response.json()).pid);
        return pids.size;
      }, patient)
      .toBe(3);
    expect(pids).toEqual(new Set(childrenOf(program.pid)));
    expect(program.printed().match(/Ctrl-C stops it/g)).toHaveLength(1);
    program.child.kill("SIGTERM");
    expect(await program.end).toEqual({ code: 0, signal: null });
  });

  it.each([
    ["SIGTERM", "the primary process"],
    ["SIGINT", "the whole group"],
  ] as const)("stops at %s to %s after the requests in flight", async (signal, whom) => {
    const { origin, pids, program } = await started();
    const pending = Array.from({ length: 6 }, () => fetch(`${origin}/process?wait=1000`));
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.kill(whom === "the whole group" ? -program.pid : program.pid, signal);
    for (const response of await Promise.all(pending)) expect(response.status).toBe(200);
    expect(await program.end).toEqual({ code: 0, signal: null });
    expect(pids.filter(isRunning)).toEqual([]);
    expect(program.printed()).not.toMatch(/ended|rror/);
  });

  it("ends at once at a second signal", async () => {
    const { origin, pids, program } = await started();
    const lost = fetch(`${origin}/process?wait=30000`).then(
      () => "a response",
      () => "lost",
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    program.child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 700));
    program.child.kill("SIGTERM");
    expect(await program.end).toEqual({ code: 143, signal: null });
    await expect.poll(() => pids.filter(isRunning), patient).toEqual([]);
    expect(await lost).toBe("lost");
  });

  it("lets the processes end in order when the primary process is killed", async () => {
    const { origin, pids, program } = await started();
    const pending = Array.from({ length: 6 }, () => fetch(`${origin}/process?wait=1000`));
    await new Promise((resolve) => setTimeout(resolve, 300));
    program.child.kill("SIGKILL");
    for (const response of await Promise.all(pending)) expect(response.status).toBe(200);
    await expect.poll(() => pids.filter(isRunning), patient).toEqual([]);
    expect(program.printed()).not.toMatch(/rror/);
  });

  async function started(): Promise<{
    readonly origin: string;
    readonly pids: readonly number[];
    readonly program: ReturnType<typeof startProgram>;
  }> {
    const DATABASE_URL = await postgres.create();
    const program = startProgram(createProject(), { DATABASE_URL, PROCESSES: "3" });
    const origin = await program.origin;
    await expect.poll(() => program.printed(), patient).toContain("Ctrl-C");
    await expect.poll(() => childrenOf(program.pid), patient).toHaveLength(3);
    const pids = childrenOf(program.pid);
    const seen = new Set<number>();
    await expect
      .poll(async () => {
        const response = await fetch(`${origin}/process`, { headers: { connection: "close" } });
        seen.add((await response.json()).pid);
        return seen.size;
      }, patient)
      .toBe(3);
    return { origin, pids, program };
  }
});
