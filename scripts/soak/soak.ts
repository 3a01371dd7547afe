import { setTimeout } from "node:timers/promises";
import type { Store } from "@fetchwork/documents";
import { isObject } from "@fetchwork/kit";
import { jobCollections } from "@fetchwork/documents/jobs";
import { senderCollections } from "@fetchwork/webhooks/sender";
import { createRandom, type Random } from "../../test/blog-fuzz/random.ts";
import { runClient } from "./client.ts";
import { compare, type Comparison } from "./compare.ts";
import { effects } from "./effects.ts";
import { createFaults, rollingUpdate, sendHostile, type Fault } from "./faults.ts";
import { Ledger } from "./ledger.ts";
import { account, purse } from "./model.ts";
import { createRequester } from "./requester.ts";
import { createWorld, type Engine, masterKey, webhookSecret, type World } from "./world.ts";

const clients = 8;
/** One request in so many is a hostile one. */
const hostileEvery = 1_000;
/**
 * By how much all clocks go forward at the end, so that what waits for a later time is due:
 * milliseconds.
 */
const clockAtEnd = 15 * 60_000;
/**
 * How long the service may make no progress with what is due, once all faults have ended:
 * milliseconds.
 */
const stuckTime = 60_000;
/** How often what is left is counted, which costs as much as what is there: milliseconds. */
const countEvery = 1_000;

/** What to run. */
export interface SoakOptions {
  readonly engine: Engine;
  readonly minutes: number;
  readonly seed: number;
}

/** What was run, and what it showed. */
export interface SoakResult {
  readonly counts: ReadonlyMap<string, number>;
  readonly comparisons: readonly Comparison[];
  /** The kinds of errors that the service logged. */
  readonly log: string;
  /** Seconds from the end of the load until no job and no delivery was left. */
  readonly drained: number;
}

/**
 * Runs the load and the faults, and compares what is there afterwards with what was acknowledged.
 */
export async function soak({ engine, minutes, seed }: SoakOptions): Promise<SoakResult> {
  const ledger = new Ledger();
  const world = await createWorld(engine, (what) => {
    ledger.differs(what);
  });
  const interrupt = (): void => void world.remove().finally(() => process.exit(130));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  try {
    await Promise.all([world.service.start(), world.receiver.start()]);
    const { accounts, token } = await prepare(world);
    const random = createRandom(seed);
    const stopped = new AbortController();
    let knowsMood = false;
    const load = Array.from({ length: clients }, (_, index) => {
      const own = createRandom(seed + index + 1);
      return runClient({
        send: createRequester({ origin: world.origin, token, random: own, ledger }),
        random: own,
        ledger,
        accounts,
        knowsMood: () => knowsMood,
        signal: stopped.signal,
      });
    });
    const hostile = runHostile(world, random, ledger, stopped.signal);
    const end = performance.now() + minutes * 60_000;
    const faults = createFaults(world, random, ledger);
    await runFaults(faults, { random, ledger, end: performance.now() + minutes * 24_000 });
    world.useModel(2);
    ledger.count("update to the second version of the model");
    await rollingUpdate(world, ledger);
    knowsMood = true;
    await runFaults(faults, { random, ledger, end });
    stopped.abort();
    await Promise.all([...load, hostile]);
    const drained = await drain(world, ledger);
    const comparisons = await compareAll(world, ledger);
    return { counts: ledger.counts, comparisons, drained, log: world.errors() };
  } finally {
    await world.remove();
  }
}

/** Creates the user, the accounts and the subscription. */
async function prepare(
  world: World,
): Promise<{ readonly accounts: readonly string[]; readonly token: string }> {
  const { hooks, origin } = world;
  const user = { email: "ada@example.com", password: "correct horse" };
  const post = async (path: string, body: object, authorization = ""): Promise<unknown> => {
    const headers = { "content-type": "application/json", ...(authorization && { authorization }) };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(origin + path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  await post("/users", { ...user, role: "admin" }, `Bearer ${masterKey}`);
  const basic = `Basic ${btoa(`${user.email}:${user.password}`)}`;
  const signedIn = await post("/auth", { access_token: masterKey }, basic);
  const token = isObject(signedIn) ? String(signedIn["token"]) : "";
  await post("/webhooks", { url: hooks, secret: webhookSecret }, `Bearer ${token}`);
  world.restoreClocks();
  const store = await world.openDocuments();
  const numbers = Array.from({ length: purse.accounts }, (_, number) => number);
  const made = await store
    .collection(account.collection)
    .insertMany(numbers.map((number) => ({ number, cents: purse.cents })));
  await store.close();
  return { accounts: made.map(({ id }) => id), token };
}

async function runHostile(
  world: World,
  random: Random,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<void> {
  for (let sent = 0; !signal.aborted; await setTimeout(20)) {
    if ((ledger.counts.get("requests") ?? 0) < (sent + 1) * hostileEvery) continue;
    sent += 1;
    await sendHostile(world.origin, random, ledger);
  }
}

/** Injects one fault after the other, with pauses of up to 3 seconds, until a time. */
async function runFaults(
  faults: readonly Fault[],
  {
    random,
    ledger,
    end,
  }: { readonly random: Random; readonly ledger: Ledger; readonly end: number },
): Promise<void> {
  for (;;) {
    await setTimeout(Math.min(random.below(3_000), Math.max(0, end - performance.now())));
    if (performance.now() >= end) return;
    const fault = faults[random.below(faults.length)];
    ledger.count(fault?.name ?? "");
    await fault?.inject();
  }
}

/** Waits until no job and no delivery is left; returns after how many seconds. */
async function drain(world: World, ledger: Ledger): Promise<number> {
  const began = performance.now();
  // What began under a clock that was ahead is due under this one.
  world.restoreClocks();
  world.setClock(clockAtEnd);
  const [documents, booked] = [await world.openDocuments(), await world.openEffects()];
  try {
    let fewest = Infinity;
    let progressAt = began;
    for (;;) {
      const left = await countLeft(documents, booked);
      const missing = Math.max(0, await countMissing(booked, ledger));
      if (left + missing === 0) break;
      if (left + missing < fewest) progressAt = performance.now();
      fewest = Math.min(fewest, left + missing);
      if (performance.now() - progressAt > stuckTime) {
        const what = `${left} jobs and deliveries are left, ${missing} effects are missing`;
        ledger.differs(`${what}, and nothing changed for ${stuckTime / 1_000} s`);
        break;
      }
      await setTimeout(countEvery);
    }
  } finally {
    await Promise.all([documents.close(), booked.close()]);
  }
  return (performance.now() - began) / 1_000;
}

async function countLeft(documents: Store, booked: Store): Promise<number> {
  const counts = await Promise.all([
    documents.collection(jobCollections.jobs).count(),
    documents.collection(senderCollections.deliveries).count({ where: { status: "pending" } }),
    booked.collection(jobCollections.jobs).count(),
  ]);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** How many effects of webhooks are not there yet. */
async function countMissing(
  booked: Store,
  { created, removed, transfers }: Ledger,
): Promise<number> {
  const where = { action: { in: ["made", "created", "removed"] } };
  const count = await booked.collection(effects).count({ where });
  return transfers.size + created.size + removed.size - count;
}

async function compareAll(world: World, ledger: Ledger): Promise<readonly Comparison[]> {
  for (const [name, victim] of [
    ["service", world.service],
    ["receiver", world.receiver],
  ] as const) {
    const code = await victim.stop();
    if (code !== 0) ledger.differs(`the ${name} stopped with ${code}`);
  }
  const [documents, booked] = [await world.openDocuments(), await world.openEffects()];
  try {
    return await compare(documents, booked, ledger);
  } finally {
    await Promise.all([documents.close(), booked.close()]);
  }
}
