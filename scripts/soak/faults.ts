import { statfsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { resizeDisk } from "../../packages/documents/test/mount-disk.ts";
import { runSql } from "../../packages/documents/test/postgres-server.ts";
import { exchange, RawClient } from "../../packages/http/test/node/raw-client.ts";
import { hostileRequests } from "../../packages/http/test/node/server/hostile-requests.ts";
import { childrenOf } from "../../packages/service/test/processes/children-of.ts";
import type { Random } from "../../test/blog-fuzz/random.ts";
import type { Ledger } from "./ledger.ts";
import { diskSize, type World } from "./world.ts";

/**
 * How far a clock jumps, in milliseconds: less than what signatures of webhooks allow, 5 minutes,
 * between two clocks.
 */
const maxJump = 120_000;
/** For how long the disk is full, in milliseconds. */
const fullFor = 1_500;

/** A fault, by the name in the summary. */
export interface Fault {
  readonly name: string;
  inject(): Promise<void>;
}

/** Makes the faults that are possible on this machine. */
export function createFaults(world: World, random: Random, ledger: Ledger): readonly Fault[] {
  const { disk, postgres, receiver, service } = world;
  const port = Number(new URL(world.origin).port);
  const faults: Fault[] = [
    {
      name: "kill -9 of the receiver",
      async inject() {
        await receiver.kill();
        await setTimeout(random.below(500));
        await receiver.start();
      },
    },
    {
      name: "clock jump",
      inject() {
        const pids = [undefined, ...childrenOf(service.pid)];
        world.setClock(random.below(2 * maxJump) - maxJump, random.pickOr(pids, undefined));
        return Promise.resolve();
      },
    },
    {
      name: "connections reset within a request",
      async inject() {
        const clients = Array.from({ length: 10 }, () => new RawClient(port));
        const head = `POST /notes HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 1000\r\n\r\n{`;
        for (const client of clients) client.send(head.slice(0, 1 + random.below(head.length)));
        await setTimeout(random.below(50));
        for (const client of clients) client.reset();
        await Promise.all(clients.map(({ closed }) => closed));
      },
    },
    { name: "rolling restart", inject: () => rollingUpdate(world, ledger) },
  ];
  if (postgres === undefined) {
    faults.push({
      name: "kill -9 of the service",
      async inject() {
        await service.kill();
        await service.start();
      },
    });
  } else {
    faults.push(
      {
        name: "kill -9 of one of 3 processes",
        inject() {
          const pid = random.pickOr(childrenOf(service.pid), 0);
          if (pid !== 0) process.kill(pid, "SIGKILL");
          return Promise.resolve();
        },
      },
      {
        name: "database connections terminated",
        async inject() {
          await runSql(
            postgres,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL",
          );
        },
      },
    );
  }
  if (disk !== undefined) {
    faults.push({
      name: "full disk",
      async inject() {
        fillDisk(disk.folder, random.below(64 * 1024));
        await setTimeout(fullFor);
        resizeDisk(disk.folder, diskSize);
        await world.revivePostgres();
      },
    });
  }
  return faults;
}

/**
 * Makes a disk as small as what is used, with some room, or more where others write in the
 * meantime.
 */
function fillDisk(folder: string, room: number): void {
  for (let more = room; ; more = 2 * more + 4_096) {
    const { bavail, blocks, bsize } = statfsSync(folder);
    try {
      resizeDisk(folder, (blocks - bavail) * bsize + more);
      return;
    } catch (error) {
      if (more > diskSize) throw error;
    }
  }
}

/**
 * Replaces the processes by ones that run what is there now: with PostgreSQL one after the other,
 * else by a stop and a start.
 */
export async function rollingUpdate(world: World, ledger: Ledger): Promise<void> {
  const { engine, service } = world;
  if (engine === "sqlite") {
    const code = await service.stop();
    if (code !== 0) ledger.differs(`the service stopped with ${code}`);
    await service.start();
    return;
  }
  const before = new Set(childrenOf(service.pid));
  process.kill(service.pid, "SIGHUP");
  const end = performance.now() + 90_000;
  while (childrenOf(service.pid).some((pid) => before.has(pid))) {
    if (performance.now() > end) {
      ledger.differs("the rolling update did not end within 90 s");
      return;
    }
    await setTimeout(100);
  }
}

/** Sends bytes that no server may accept, and expects a refusal if there is a response at all. */
export async function sendHostile(origin: string, random: Random, ledger: Ledger): Promise<void> {
  const [what, bytes] = random.pickOr(hostileRequests, ["", "", 0] as const);
  ledger.count("hostile requests");
  const port = Number(new URL(origin).port);
  const response = await Promise.race([exchange(port, bytes), setTimeout(5_000, "")]);
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(response) ?? [];
  if (status === "500" || status?.startsWith("2") === true) {
    ledger.differs(`${what} has the status ${status}`);
  }
}
