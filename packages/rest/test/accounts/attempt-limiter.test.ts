import { openStore } from "@fetchwork/documents";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type AttemptStore, memoryAttemptStore, waitOf } from "../../src/attempt-store.ts";
import { documentsAttemptStore } from "../../src/accounts/documents-attempt-store.ts";
import {
  type AttemptBy,
  type AttemptLimiter,
  createAttemptLimiter,
} from "../../src/attempt-limiter.ts";
import { RestError } from "../../src/errors.ts";
import { Problem } from "../../src/problem.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_800_000_000_000, toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

const stores: readonly (readonly [string, () => Promise<AttemptStore>])[] = [
  ["in memory", async () => memoryAttemptStore()],
  [
    "in documents",
    async () => {
      const store = await openStore("sqlite::memory:");
      onTestFinished(() => store.close());
      return documentsAttemptStore(store);
    },
  ],
];

/** Fails a number of times, and returns the seconds that the next one has to wait. */
async function fail(limiter: AttemptLimiter, by: AttemptBy, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await (await limiter.begin(by)).end("failure");
  }
}

async function waitFor(limiter: AttemptLimiter, by: AttemptBy): Promise<number> {
  try {
    await (await limiter.begin(by)).end("neither");
    return 0;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 429) throw error;
    return Number(error.headers["retry-after"]);
  }
}

const eve = { account: "ada@example.com", address: "192.0.2.66" };
const ada = { account: "ada@example.com", address: "192.0.2.1" };

describe.each(stores)("createAttemptLimiter %s", (_where, open) => {
  it("lets ten fail, then makes the next wait, longer each time up to a quarter of an hour", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    await fail(limiter, eve, 10);
    const waits: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const wait = await waitFor(limiter, eve);
      waits.push(wait);
      vi.advanceTimersByTime(wait * 1_000 - 1);
      expect(await waitFor(limiter, eve)).toBe(1);
      vi.advanceTimersByTime(1);
      await fail(limiter, eve, 1);
    }
    expect(waits).toEqual([60, 120, 240, 480, 900, 900]);
  });

  it("counts failures of an account wherever they come from", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    for (let host = 0; host < 10; host += 1) {
      await fail(limiter, { ...eve, address: `198.51.100.${host}` }, 1);
    }
    expect(await waitFor(limiter, { ...eve, address: "203.0.113.1" })).toBe(60);
    expect(await waitFor(limiter, { account: "bob@example.com", address: eve.address })).toBe(0);
  });

  it("does not let strangers lock out a user who signed in before from the same network", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    await (await limiter.begin(ada)).end("success");
    await fail(limiter, eve, 10);
    expect(await waitFor(limiter, eve)).toBe(60);
    expect(await waitFor(limiter, ada)).toBe(0);
    await fail(limiter, ada, 10);
    expect(await waitFor(limiter, ada)).toBe(60);
    expect(await waitFor(limiter, { ...ada, address: "192.0.2.2" })).toBe(60);
  });

  it("takes no name for an account and a network", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    await (await limiter.begin(ada)).end("success");
    const names = [
      `${ada.account} from ${ada.address}`,
      `network ${ada.address} ${ada.account}`,
      `account ${ada.account}`,
      `trust network ${ada.address} ${ada.account}`,
    ];
    for (const account of names) await fail(limiter, { ...eve, account }, 10);
    expect(await waitFor(limiter, ada)).toBe(0);
    expect(await waitFor(limiter, eve)).toBe(0);
  });

  it("trusts a network for thirty days, and the whole /64 of IPv6", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    const home = { ...ada, address: "2001:db8::1" };
    await (await limiter.begin(home)).end("success");
    await fail(limiter, eve, 10);
    expect(await waitFor(limiter, { ...ada, address: "2001:db8::ffff:2" })).toBe(0);
    expect(await waitFor(limiter, { ...ada, address: "2001:db8:0:1::1" })).toBe(60);
    vi.advanceTimersByTime(30 * 86_400_000);
    await fail(limiter, eve, 10);
    expect(await waitFor(limiter, home)).toBe(60);
  });

  it("slows a network down that tries few passwords on many accounts, but none who signed in there", async () => {
    const limiter = createAttemptLimiter({ limit: 3, store: await open() });
    const home = { ...ada, atOnce: 8 };
    await (await limiter.begin(home)).end("success");
    const sprayed = (index: number): AttemptBy => ({
      account: `user-${index}@example.com`,
      address: ada.address,
      atOnce: 8,
    });
    for (let index = 0; index < 30; index += 1) await fail(limiter, sprayed(index), 1);
    expect(await waitFor(limiter, sprayed(30))).toBe(60);
    expect(await waitFor(limiter, { ...sprayed(30), address: "198.51.100.1" })).toBe(0);
    expect(await waitFor(limiter, home)).toBe(0);
    // What the network had to wait for is not a failure of the account.
    for (let times = 0; times < 5; times += 1) await waitFor(limiter, sprayed(31));
    expect(await waitFor(limiter, { ...sprayed(31), address: "198.51.100.1" })).toBe(0);
    // Another server that signs its users in from one address is not such a network.
    expect(await waitFor(limiter, { account: "bob@example.com", address: ada.address })).toBe(0);
  });

  it("lets a success make up for no failure on other accounts", async () => {
    const limiter = createAttemptLimiter({ limit: 3, store: await open() });
    const from = (account: string): AttemptBy => ({ account, address: eve.address, atOnce: 8 });
    for (let index = 0; index < 30; index += 1) {
      await fail(limiter, from(`user-${index}@example.com`), 1);
      if (index % 3 === 0) await (await limiter.begin(from("eve@example.com"))).end("success");
    }
    expect(await waitFor(limiter, from("ada@example.com"))).toBe(60);
  });

  it("never counts what succeeds, nor what the server failed at", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    await fail(limiter, eve, 9);
    for (let time = 0; time < 20; time += 1) {
      await (await limiter.begin({ account: ada.account })).end("success");
      await (await limiter.begin(eve)).end("neither");
    }
    await fail(limiter, eve, 1);
    expect(await waitFor(limiter, eve)).toBe(60);
  });

  it("makes up for one failure by a success from a trusted network", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    await (await limiter.begin(ada)).end("success");
    await fail(limiter, ada, 9);
    await (await limiter.begin(ada)).end("success");
    await fail(limiter, ada, 1);
    expect(await waitFor(limiter, ada)).toBe(0);
    await fail(limiter, ada, 1);
    expect(await waitFor(limiter, ada)).toBe(60);
  });

  it("does not let a neighbour guess without end between the successes of a user", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    let guesses = 0;
    for (let round = 0; round < 20; round += 1) {
      while ((await waitFor(limiter, ada)) === 0 && guesses < 100) {
        guesses += 1;
        await fail(limiter, ada, 1);
      }
      vi.advanceTimersByTime(900_000);
      await (await limiter.begin(ada)).end("success");
    }
    expect(guesses).toBeLessThanOrEqual(10 + 2 * 20);
  });

  it("starts again an hour after the last", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    await fail(limiter, eve, 10);
    vi.advanceTimersByTime(3_600_000);
    await fail(limiter, eve, 9);
    expect(await waitFor(limiter, eve)).toBe(0);
  });

  it("forgets the failures of an account on demand", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    await fail(limiter, eve, 10);
    await limiter.forget({ account: eve.account });
    expect(await waitFor(limiter, eve)).toBe(0);

    await (await limiter.begin(ada)).end("success");
    await fail(limiter, ada, 10);
    await limiter.forget({ account: ada.account });
    expect(await waitFor(limiter, ada)).toBe(60);
    await limiter.forget(ada);
    expect(await waitFor(limiter, ada)).toBe(0);
  });

  it("lets no more than the limit through when many try at once", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    const tries = await Promise.allSettled(
      Array.from({ length: 50 }, async (_, host) => {
        const address = `198.51.100.${host}`;
        await (await limiter.begin({ account: ada.account, address })).end("failure");
      }),
    );
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  });

  it("lets any number through at once that succeed", async () => {
    const limiter = createAttemptLimiter({ store: await open() });
    await Promise.all(
      Array.from({ length: 64 }, async () => (await limiter.begin(ada)).end("success")),
    );
    expect(await waitFor(limiter, ada)).toBe(0);
  });
});

describe("createAttemptLimiter", () => {
  it.each([
    { limit: 2 },
    { limit: 10.5 },
    { firstDelay: 0 },
    { maxDelay: Number.NaN },
    { memory: -1 },
    { memory: 31_536_001 },
  ])("refuses %j", (options) => {
    expect(() => createAttemptLimiter(options)).toThrow(RestError);
  });

  it("lets attempts of a network wait for each other, whatever accounts they are for", async () => {
    const limiter = createAttemptLimiter();
    const by = (account: string) => ({ account, address: "192.0.2.66", atOnce: 2 });
    const first = await limiter.begin(by("a"));
    await limiter.begin(by("b"));
    const begun: string[] = [];
    const waiting = limiter.begin(by("c")).then(() => begun.push("c"));
    expect(await waitFor(limiter, { ...by("c"), address: "192.0.2.67" })).toBe(0);
    expect(begun).toEqual([]);
    await first.end("failure");
    await waiting;
    expect(begun).toEqual(["c"]);
  });

  it("refuses attempts of a network with 503 when 200 of it wait", async () => {
    const limiter = createAttemptLimiter();
    const by = (account: string) => ({ account, address: "192.0.2.66", atOnce: 1 });
    const first = await limiter.begin(by("first"));
    const waiting = Array.from({ length: 200 }, (_, index) => limiter.begin(by(`other ${index}`)));
    await expect(limiter.begin(by("last"))).rejects.toMatchObject({ status: 503 });
    expect(await waitFor(limiter, { ...by("last"), address: "192.0.2.67" })).toBe(0);
    await first.end("success");
    for (const attempt of waiting) await (await attempt).end("success");
    expect(await waitFor(limiter, by("last"))).toBe(0);
  });

  it("goes on when its store has failed", async () => {
    const memory = memoryAttemptStore();
    let isBroken = true;
    const store: AttemptStore = {
      ...memory,
      begin(key, rule) {
        if (isBroken) throw new Error("no store");
        return memory.begin(key, rule);
      },
    };
    const limiter = createAttemptLimiter({ store });
    for (let time = 0; time < 5; time += 1) {
      await expect(limiter.begin({ ...eve, atOnce: 1 })).rejects.toThrow("no store");
    }
    isBroken = false;
    expect(await waitFor(limiter, { ...eve, atOnce: 1 })).toBe(0);
  });

  it("takes a bounded place, however long the names are and however many", async () => {
    const store = memoryAttemptStore(100);
    const limiter = createAttemptLimiter({ store });
    await fail(limiter, eve, 10);
    for (let name = 0; name < 99; name += 1) await fail(limiter, { account: `user ${name}` }, 1);
    expect(await waitFor(limiter, eve)).toBe(60);
    await fail(limiter, { account: "one more" }, 1);
    expect(await waitFor(limiter, eve)).toBe(0);
    const long = "x".repeat(100_000);
    await fail(limiter, { account: `${long}1` }, 10);
    expect(await waitFor(limiter, { account: `${long}2` })).toBe(60);
  });
});

it("the limiter of attempts lets two attempts of an account run at the same time, and the others in their order", async () => {
  const limiter = createAttemptLimiter();
  const begun: number[] = [];
  const attempts = [1, 2, 3, 4].map(async (number) => {
    const attempt = await limiter.begin(ada);
    begun.push(number);
    return attempt;
  });
  const [first, second] = await Promise.all(attempts.slice(0, 2));
  expect(begun).toEqual([1, 2]);
  await first?.end("success");
  await attempts[2];
  expect(begun).toEqual([1, 2, 3]);
  await second?.end("success");
  await attempts[3];
  expect(begun).toEqual([1, 2, 3, 4]);
});

it("the limiter of attempts rejects an attempt with 503 while 200 others of that account wait", async () => {
  const limiter = createAttemptLimiter();
  const begun = Array.from({ length: 202 }, () => limiter.begin(ada));
  await expect(limiter.begin(ada)).rejects.toMatchObject({
    status: 503,
    headers: { "retry-after": "5" },
  });
  await (await limiter.begin({ account: "grace@example.com" })).end("success");
  for (const attempt of begun) await (await attempt).end("success");
  await (await limiter.begin(ada)).end("success");
});

it("the documents do not name who tried", async () => {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  const attempts = documentsAttemptStore(store);
  const limiter = createAttemptLimiter({ store: attempts });
  await fail(limiter, eve, 2);
  const { attemptCollection } = await import("../../src/accounts/documents-attempt-store.ts");
  const kept = await store.collection(attemptCollection).find();
  expect(kept).toMatchObject([{ failures: 2 }]);
  expect(JSON.stringify(kept)).not.toMatch(/ada@|192\.0\.2/);
});

it("a wait is never negative, never longer than the longest, and never shorter after more failures", () => {
  const rule = { limit: 10, firstDelay: 60_000, maxDelay: 900_000, memory: 3_600_000 };
  fc.assert(
    fc.property(fc.nat(10_000), fc.nat(4_000_000), (failures, passed) => {
      const wait = waitOf({ failures, last: 0 }, rule, passed);
      expect(wait).toBeGreaterThanOrEqual(0);
      expect(wait).toBeLessThanOrEqual(rule.maxDelay);
      expect(waitOf({ failures: failures + 1, last: 0 }, rule, passed)).toBeGreaterThanOrEqual(
        wait,
      );
    }),
  );
});
