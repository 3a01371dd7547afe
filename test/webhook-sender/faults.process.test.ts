import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openStore, type Store } from "@fetchwork/documents";
import { createJobs } from "@fetchwork/documents/jobs";
import { createSender, type Sender, senderCollections } from "@fetchwork/webhooks/sender";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { newDatabase } from "../../packages/documents/test/open-for-test.ts";
import { noPostgres } from "../../packages/documents/test/postgres-server.ts";
import { temporaryFolder } from "../../packages/documents/test/temporary-folder.ts";
import { startReceiver } from "./receiver.ts";

let folder: string;
let url: string;
let store: Store;
let sender: Sender;
let children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fetchwork-sender-"));
  url = `sqlite:${join(folder, "sender.db")}`;
  store = await openStore(url);
  sender = createSender({ store, allowHttp: true, allowPrivate: true });
});

afterEach(async () => {
  await Promise.all(children.map((child) => kill(child)));
  children = [];
  await sender.stop({ grace: 0 });
  await store.close();
  await rm(folder, { recursive: true });
});

/** Starts a script of this folder and resolves with its first line. */
async function start(script: string, ...args: string[]): Promise<readonly [ChildProcess, string]> {
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", join(import.meta.dirname, script), ...args],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  children.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return [child, line.toString().trim()];
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

/** Counts the deliveries that are not made, and the events whose deliveries are not there. */
async function undelivered(): Promise<number> {
  const events = (await createJobs(store).list({ limit: 1000 })).items.length;
  return events + (await sender.deliveries({ status: "pending", limit: 1000 })).length;
}

describe("several processes on one store", () => {
  it("deliver each event once", { timeout: 60_000 }, async () => {
    await using receiver = await startReceiver();
    await sender.endpoints.create({ url: receiver.url });
    await Promise.all([start("worker-process.ts", url), start("worker-process.ts", url)]);
    const ids: string[] = [];
    for (let batch = 0; batch < 10; batch += 1) {
      const sends = Array.from({ length: 30 }, (_, n) =>
        sender.send({ name: "a", payload: { n } }),
      );
      ids.push(...(await Promise.all(sends)).map(({ id }) => id));
    }
    await expect.poll(undelivered, { timeout: 40_000, interval: 100 }).toBe(0);
    const arrived = receiver.arrived.map(({ id }) => id);
    expect(arrived.length).toBe(300);
    expect(new Set(arrived)).toEqual(new Set(ids));
  });
});

describe("kill -9", () => {
  it("of the receiver loses none of 1,000 events", { timeout: 120_000 }, async () => {
    const file = join(folder, "received");
    const secret = "a secret of the test";
    const [first, port] = await start("receiver-process.ts", "0", file, secret);
    await sender.endpoints.create({ url: `http://127.0.0.1:${port}/hooks`, secret });
    await start("worker-process.ts", url);
    const ids: string[] = [];
    const sendSome = async (count: number): Promise<void> => {
      for (let done = 0; done < count; done += 50) {
        const sends = Array.from({ length: 50 }, (_, n) =>
          sender.send({ name: "a", payload: { n } }),
        );
        ids.push(...(await Promise.all(sends)).map(({ id }) => id));
      }
    };
    await sendSome(400);
    await kill(first);
    await sendSome(300);
    const [second] = await start("receiver-process.ts", port, file, secret);
    await sendSome(200);
    await kill(second);
    await sendSome(100);
    await start("receiver-process.ts", port, file, secret);
    await expect.poll(undelivered, { timeout: 90_000, interval: 200 }).toBe(0);
    expect(ids.length).toBe(1000);
    expect(new Set(linesOf(file))).toEqual(new Set(ids));
  });

  it("of the sender loses none, and another one takes over", { timeout: 120_000 }, async () => {
    const file = join(folder, "received");
    const [, port] = await start("receiver-process.ts", "0", file, "a secret of the test");
    await sender.endpoints.create({
      url: `http://127.0.0.1:${port}/hooks`,
      secret: "a secret of the test",
    });
    const ids: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const [worker] = await start("worker-process.ts", url);
      const sends = Array.from({ length: 60 }, (_, n) =>
        sender.send({ name: "a", payload: { n } }),
      );
      ids.push(...(await Promise.all(sends)).map(({ id }) => id));
      // In the middle of its work: some are delivered, others not.
      await expect.poll(() => linesOf(file).length, { interval: 1 }).toBeGreaterThan(round * 60);
      await kill(worker);
    }
    await start("worker-process.ts", url);
    await expect.poll(undelivered, { timeout: 90_000, interval: 200 }).toBe(0);
    expect(new Set(linesOf(file))).toEqual(new Set(ids));
  });
});

describe.each([
  ["SQLite", () => Promise.resolve(`sqlite:${join(temporaryFolder(), "a.db")}`)] as const,
  ...(noPostgres === undefined ? [["PostgreSQL", () => newDatabase()] as const] : []),
])("the deliveries of an event on %s are there once when kill -9", (_engine, newUrl) => {
  const endpointCount = 3;

  /**
   * Opens a store with three endpoints, and what waits until all of some events arrived at each.
   */
  async function open() {
    const receiver = await startReceiver();
    onTestFinished(() => receiver[Symbol.asyncDispose]());
    const databaseUrl = await newUrl();
    const database = await openStore(databaseUrl, { busyTimeout: 15_000 });
    onTestFinished(() => database.close());
    const own = createSender({ store: database, allowHttp: true, allowPrivate: true });
    for (let n = 0; n < endpointCount; n += 1) await own.endpoints.create({ url: receiver.url });
    const jobs = createJobs(database);
    const checkAll = async (ids: readonly string[]): Promise<void> => {
      const arrived = (): number => new Set(receiver.arrived.map(({ id }) => id)).size;
      await expect.poll(arrived, { timeout: 40_000 }).toBe(ids.length);
      const delivered = (): Promise<number> =>
        database.collection(senderCollections.deliveries).count({ where: { status: "delivered" } });
      await expect.poll(delivered, { timeout: 40_000 }).toBe(ids.length * endpointCount);
      const stored = await database.collection(senderCollections.deliveries).find();
      expect(stored.length).toBe(ids.length * endpointCount);
      expect(new Set(stored.map(({ eventId }) => eventId))).toEqual(new Set(ids));
      expect((await jobs.list()).items).toEqual([]);
    };
    return { databaseUrl, own, checkAll };
  }

  it("ends a process between storing and the job", { timeout: 60_000 }, async () => {
    const { databaseUrl, own, checkAll } = await open();
    const [process, ids] = await start("send-process.ts", databaseUrl, "10");
    await kill(process);
    expect(await own.deliveries()).toEqual([]);
    await start("worker-process.ts", databaseUrl);
    await checkAll(ids.split(" "));
  });

  it("ends a process before the job commits", { timeout: 60_000 }, async () => {
    const { databaseUrl, own, checkAll } = await open();
    const { id } = await own.send({ name: "a", payload: {} });
    const [process, first] = await start("worker-process.ts", databaseUrl, "stuck");
    if (first !== "working\nstuck") {
      await once(process.stdout ?? process, "data");
    }
    await kill(process);
    expect(await own.deliveries()).toEqual([]);
    await start("worker-process.ts", databaseUrl);
    await checkAll([id]);
  });

  it("ends processes at random moments", { timeout: 120_000 }, async () => {
    const { databaseUrl, own, checkAll } = await open();
    const ids: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const [worker] = await start("worker-process.ts", databaseUrl);
      const sends = Array.from({ length: 40 }, (_, n) => own.send({ name: "a", payload: { n } }));
      await setTimeout(Math.random() * 60);
      await kill(worker);
      ids.push(...(await Promise.all(sends)).map(({ id }) => id));
    }
    await start("worker-process.ts", databaseUrl);
    await checkAll(ids);
  });
});
