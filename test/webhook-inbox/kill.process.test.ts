import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openStore, type Store } from "@fetchwork/documents";
import { jobCollections } from "@fetchwork/documents/jobs";
import { signRequest } from "@fetchwork/webhooks";
import { createSender, senderCollections } from "@fetchwork/webhooks/sender";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { describe, expect, it, onTestFinished } from "vitest";
import { newDatabase } from "../../packages/documents/test/open-for-test.ts";
import { noPostgres } from "../../packages/documents/test/postgres-server.ts";
import { temporaryFolder } from "../../packages/documents/test/temporary-folder.ts";
import { accounts, orders } from "./ledger.ts";

const secret = "a secret of the test";
const eventCount = Number(process.env["FETCHWORK_INBOX_EVENTS"] ?? 500);

/** A process of the test that is killed and started again, until the test ends. */
interface Victim {
  /** The first line that it printed. */
  readonly line: string;
  killAndRestart(): Promise<void>;
}

/**
 * Starts a script of this folder; `args` get its first line, which is `"0"` before it printed one.
 */
async function startVictim(script: string, args: (line: string) => string[]): Promise<Victim> {
  let isOver = false;
  const start = async (line: string): Promise<readonly [ChildProcess, string]> => {
    const child = spawn(
      process.execPath,
      ["--conditions=@fetchwork/source", join(import.meta.dirname, script), ...args(line)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [printed] = (await once(child.stdout, "data")) as [Buffer];
    return [child, printed.toString().trim()];
  };
  const [first, line] = await start("0");
  let child = first;
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  onTestFinished(() => {
    isOver = true;
    return kill();
  });
  return {
    line,
    async killAndRestart() {
      await kill();
      if (!isOver) [child] = await start(line);
    },
  };
}

async function open(url: string): Promise<Store> {
  const store = await openStore(url, { busyTimeout: 15_000 });
  onTestFinished(() => store.close());
  return store;
}

/** Kills one of these processes after the other at random moments, so often. */
async function killSome(victims: readonly Victim[], times: number): Promise<void> {
  for (let kills = 0; kills < times; kills += 1) {
    await setTimeout(Math.random() * 600);
    await victims[Math.floor(Math.random() * victims.length)]?.killAndRestart();
  }
}

/** Waits longer for more events: a machine handles some hundred a second. */
const patience = 300_000 + eventCount * 20;

const untilNone = (count: () => Promise<number>): Promise<void> =>
  expect.poll(count, { timeout: patience, interval: 100 }).toBe(0);

describe.each([
  ["SQLite", () => Promise.resolve(`sqlite:${join(temporaryFolder(), "a.db")}`)] as const,
  ...(noPostgres === undefined ? [["PostgreSQL", () => newDatabase()] as const] : []),
])("An inbox on %s", (_engine, newUrl) => {
  const limit = 600_000 + eventCount * 100;

  it("balances with the sender to the cent, whichever is killed", { timeout: limit }, async () => {
    const [shopUrl, bankUrl] = [await newUrl(), await newUrl()];
    const [shop, bank] = [await open(shopUrl), await open(bankUrl)];
    const receiving = await startVictim("bank-process.ts", (port) => [bankUrl, port, secret]);
    // It handles what the other one receives.
    const handling = await startVictim("bank-process.ts", () => [bankUrl, "0", secret]);
    const sender = createSender({ store: shop, allowHttp: true, allowPrivate: true });
    await sender.endpoints.create({ url: `http://127.0.0.1:${receiving.line}/hooks`, secret });
    const selling = await startVictim("shop-process.ts", () => [shopUrl, String(eventCount)]);

    const sold = shop.collection(orders);
    await killSome([receiving, handling, selling], 20);
    await untilNone(async () => eventCount - (await sold.count()));
    const { deliveries } = senderCollections;
    const pending = { where: { status: "pending" } } as const;
    await untilNone(() => shop.collection(jobCollections.jobs).count());
    await untilNone(() => shop.collection(deliveries).count(pending));
    await untilNone(() => bank.collection(jobCollections.jobs).count());

    const delivered = { where: { status: "delivered" } } as const;
    expect(await sold.count()).toBe(eventCount);
    expect(await shop.collection(deliveries).count(delivered)).toBe(eventCount);
    const booked = await bank.collection(accounts).find({ limit: 1000 });
    for (const { id, cents, events } of booked) {
      const of = await sold.find({ where: { account: id }, limit: 100_000 });
      expect([id, events.toSorted()]).toEqual([id, of.map((order) => order.id).toSorted()]);
      expect([id, cents]).toEqual([id, of.reduce((sum, order) => sum + order.cents, 0)]);
    }
    expect(booked.reduce((sum, { events }) => sum + events.length, 0)).toBe(eventCount);
  });

  it("keeps the order of each key, whichever is killed", { timeout: limit }, async () => {
    const url = await newUrl();
    const bank = await open(url);
    const args = (port: string): string[] => [url, port, secret];
    const banks = [
      await startVictim("bank-process.ts", args),
      await startVictim("bank-process.ts", args),
    ];

    /** Delivers an event until it is acknowledged, by any of the processes. */
    async function deliver(account: string, id: string): Promise<void> {
      for (;;) {
        const { line = "" } = banks[Math.floor(Math.random() * banks.length)] ?? {};
        const request = await signRequest({
          vendor: fetchwork,
          secret,
          id,
          name: "order.paid",
          payload: { account, cents: 1 },
          url: `http://127.0.0.1:${line}/hooks`,
        });
        const response = await fetch(request).catch(() => undefined);
        if (response?.status === 202) return;
        await setTimeout(20);
      }
    }

    const idsOf = (account: string): readonly string[] =>
      Array.from({ length: 50 }, (_, n) => `${account}-${n}`);
    const names = ["a", "b", "c", "d", "e", "f"];
    const sending = Promise.all(
      names.map(async (account) => {
        for (const id of idsOf(account)) await deliver(account, id);
      }),
    );
    await killSome(banks, 8);
    await sending;
    await untilNone(() => bank.collection(jobCollections.jobs).count());
    for (const account of names) {
      const booked = await bank.collection(accounts).get(account);
      expect(booked).toMatchObject({ cents: 50, events: idsOf(account) });
    }
  });
});
