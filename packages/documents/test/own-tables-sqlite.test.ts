import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { administer, defineCollection, openStore } from "../src/index.ts";
import { writePosition } from "../src/changes/feed-position.ts";
import { Connection } from "../src/engines/sqlite/connection/connection.ts";
import { noResult, type Operation } from "../src/engines/operation.ts";
import * as feed from "../src/engines/operations/feed.ts";
import * as locks from "../src/engines/operations/locks.ts";
import { runOperation, runStatement } from "../src/engines/sqlite/connection/run-operation.ts";
import { SqliteWriter } from "../src/engines/sqlite/statements/dialect.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const notes = defineCollection<{ n: number; until?: number }>("notes", {
  changes: "ids",
  softDelete: true,
  expires: { field: "until" },
});
const startTime = Date.parse("2030-01-01T00:00:00.000Z");

beforeEach(() => {
  vi.useFakeTimers({ now: startTime, toFake: ["Date", "setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function connect(): Promise<Connection> {
  const path = join(temporaryFolder(), "a.db");
  const store = await openStore(`sqlite:${path}`, { collections: [notes] });
  await store.collection(notes).insertMany([{ n: 1 }, { n: 2 }, { n: 3 }]);
  await store.close();
  const connection = new Connection(new DatabaseSync(path));
  onTestFinished(() => {
    connection.close();
  });
  return connection;
}

const begin = (): SqliteWriter => new SqliteWriter();

function run<R>(connection: Connection, operation: Operation<R>): R {
  return runOperation(operation, (step) =>
    step.kind === "read" || step.kind === "write" ? runStatement(connection, step) : noResult,
  );
}

describe("A row of a lock", () => {
  const lock = { name: "a", token: "one", expiry: 1000 };
  type Lock = typeof lock;
  const takeLock = (connection: Connection, wanted: Lock): boolean =>
    run(connection, locks.takeLock(begin(), wanted));
  const renewLock = (connection: Connection, held: Lock): boolean =>
    run(connection, locks.renewLock(begin(), held));
  const releaseLock = (connection: Connection, held: Omit<Lock, "expiry">): void =>
    run(connection, locks.releaseLock(begin(), held));

  it("is not renewed when its time is over, though nobody took it", async () => {
    const connection = await connect();
    expect(takeLock(connection, lock)).toBe(true);
    vi.setSystemTime(startTime + 999);
    expect(renewLock(connection, lock)).toBe(true);
    vi.setSystemTime(startTime + 1999);
    expect(renewLock(connection, lock)).toBe(false);
    expect(takeLock(connection, { ...lock, token: "other" })).toBe(true);
  });

  it("is neither renewed nor given up with the token of somebody else", async () => {
    const connection = await connect();
    takeLock(connection, lock);
    expect(renewLock(connection, { ...lock, token: "other" })).toBe(false);
    releaseLock(connection, { name: "a", token: "other" });
    expect(takeLock(connection, { ...lock, token: "third" })).toBe(false);
    releaseLock(connection, lock);
    expect(takeLock(connection, { ...lock, token: "third" })).toBe(true);
  });
});

/** A connection next to which another process does something just before it reads rows. */
class Overtaken extends Connection {
  readonly #other: DatabaseSync;
  readonly #change: (other: Connection) => void;

  constructor(path: string, change: (other: Connection) => void) {
    super(new DatabaseSync(path));
    this.#other = new DatabaseSync(path);
    this.#change = change;
    onTestFinished(() => {
      this.#other.close();
      this.close();
    });
  }

  override all(...args: Parameters<Connection["all"]>): ReturnType<Connection["all"]> {
    const [text] = args;
    if (text.includes("ORDER BY position")) this.#change(new Connection(this.#other));
    return super.all(...args);
  }
}

async function feedOfThree(): Promise<string> {
  const path = join(temporaryFolder(), "a.db");
  const store = await openStore(`sqlite:${path}`, { collections: [notes] });
  await store.collection(notes).insertMany([{ n: 1 }, { n: 2 }, { n: 3 }]);
  await store.close();
  return path;
}

describe("The feed that another process writes to while it is read", () => {
  const query = { after: undefined, collections: undefined, limit: 10 };

  it("is not told twice", async () => {
    const connection = new Overtaken(await feedOfThree(), (other) => {
      other.exec(
        'INSERT INTO "fetchwork:changes" (collection, id, kind, version, at, doc, checksum) ' +
          'SELECT collection, id, kind, version, at, doc, checksum FROM "fetchwork:changes" LIMIT 1',
      );
    });
    const { changes, scanned } = run(connection, feed.readChanges(begin, query));
    expect([changes.length, scanned]).toEqual([4, writePosition(4)]);
  });

  it("says that changes are missing, when it is trimmed there", async () => {
    const connection = new Overtaken(await feedOfThree(), (other) => {
      run(other, feed.trimChanges(begin, "9999-01-01T00:00:00.000Z"));
    });
    const after = writePosition(1);
    const reading = feed.readChanges(begin, { ...query, after });
    expect(() => run(connection, reading)).toThrow("trimmed");
  });
});

describe("A position in the feed", () => {
  it("never goes back, neither of a consumer nor of a reader", async () => {
    const connection = await connect();
    const [second, third] = [writePosition(2), writePosition(3)];
    run(connection, feed.savePosition(begin, "mails", third));
    run(connection, feed.savePosition(begin, "mails", second));
    expect(run(connection, feed.loadPosition(begin, "mails"))).toBe(third);
    const query = { after: third, collections: undefined, limit: 10 };
    expect(run(connection, feed.trimChanges(begin, "9999-01-01T00:00:00.000Z"))).toBe(3);
    // Nothing is left that says how far the feed is.
    expect(run(connection, feed.readChanges(begin, query))).toEqual({
      changes: [],
      isEnd: true,
      scanned: third,
    });
  });
});

describe("The count of a collection", () => {
  it("loses no document twice that was removed before it expired", async () => {
    const path = join(temporaryFolder(), "a.db");
    await using store = await openStore(`sqlite:${path}`, { collections: [notes] });
    const collection = store.collection(notes);
    const [first] = await collection.insertMany([
      { n: 1, until: startTime + 1000 },
      { n: 2, until: startTime + 1000 },
      { n: 3 },
    ]);
    await collection.remove(first?.id ?? "");
    vi.setSystemTime(startTime + 2000);
    await administer(store).sweep();
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
    expect((await administer(store).status()).collections).toMatchObject([{ documents: 1 }]);
  });
});

describe("A writer next to another process", () => {
  it("waits for its lock each time, however long ago it waited the last time", async () => {
    const path = join(temporaryFolder(), "a.db");
    const options = { collections: [notes], busyTimeout: 5000 };
    await using store = await openStore(`sqlite:${path}`, options);
    const other = new DatabaseSync(path);
    vi.useFakeTimers({ toFake: ["performance"] });
    for (let turn = 1; turn <= 2; turn += 1) {
      other.exec("BEGIN IMMEDIATE");
      const written = store.collection(notes).insert({ n: turn });
      // It has found the lock taken when a timer of the same time comes.
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      other.exec("COMMIT");
      expect((await written).n).toBe(turn);
      vi.advanceTimersByTime(10_000);
    }
    other.close();
  });
});
