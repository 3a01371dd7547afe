import type { ChangeRecord, ConsumeOptions } from "../api/changes.ts";
import { hasCode, optionError } from "../api/errors.ts";
import { holdLock, type LockTable } from "../leases/hold-lock.ts";
import { checkOptions } from "../api/check-options.ts";
import { type ChangeSource, followChanges } from "./follow-changes.ts";

/** Access of an engine to consumers of the feed. */
export interface ConsumerSource extends ChangeSource, LockTable {
  /** Reads the position that is kept under a name. */
  loadPosition(name: string): Promise<string | undefined>;
  /** Keeps a position, unless a later one is kept. */
  savePosition(name: string, position: string): Promise<void>;
}

const maxName = 180;
const defaultBatch = 100;
const maxBatch = 1000;
const defaultLease = 30_000;
const minLease = 1000;
/** Milliseconds between two notes of a position behind which there was nothing for the consumer. */
const passInterval = 60_000;

/** Passes changes to a handler, one process at a time; see `Store.consume`. */
export async function consumeChanges(
  source: ConsumerSource,
  consumer: {
    readonly name: string;
    readonly handler: (changes: readonly ChangeRecord[]) => Promise<void> | void;
  },
  options: ConsumeOptions,
): Promise<void> {
  checkOptions("consume", options, [
    "collections",
    "atEnd",
    "signal",
    "pollInterval",
    "batch",
    "lease",
  ]);
  const { name, handler } = consumer;
  const { batch = defaultBatch, lease = defaultLease, signal } = options;
  checkConsumer(name, { batch, lease });
  // Wrong options are told before the lock is waited for.
  await followChanges(source, options).return();
  const isOver = (): boolean => signal?.aborted === true || source.closed.aborted;
  while (!isOver()) {
    try {
      await holdLock(
        source,
        `consume:${name}`,
        (lost) => run(source, { name, handler }, { ...options, batch, lost }),
        { wait: lease, expiry: lease, signal },
      );
      return;
    } catch (error) {
      if (hasCode(error, "ERR_DOCUMENTS_CLOSED") && source.closed.aborted) return;
      // Somebody else consumes, now or from now on.
      const isTaken =
        hasCode(error, "ERR_DOCUMENTS_LOCKED") || hasCode(error, "ERR_DOCUMENTS_LEASE");
      if (!isTaken) throw error;
    }
  }
}

async function run(
  source: ConsumerSource,
  { name, handler }: Parameters<typeof consumeChanges>[1],
  { lost, signal, ...options }: ConsumeOptions & { readonly lost: AbortSignal },
): Promise<void> {
  const stop = signal === undefined ? lost : AbortSignal.any([lost, signal]);
  const after = await source.loadPosition(name);
  let passedAt = 0;
  // So that changes of other collections, which it never gets, can be trimmed.
  const onPassed = async (position: string): Promise<void> => {
    if (Date.now() - passedAt < passInterval) return;
    passedAt = Date.now();
    await source.savePosition(name, position);
  };
  for await (const changes of followChanges(source, {
    ...options,
    after,
    onPassed,
    signal: stop,
  })) {
    await handler(changes);
    const { position } = changes.at(-1) ?? {};
    if (position !== undefined) await source.savePosition(name, position);
    if (stop.aborted) return;
  }
}

function checkConsumer(
  name: unknown,
  { batch, lease }: { readonly batch: number; readonly lease: number },
): void {
  if (typeof name !== "string" || name === "" || name.length > maxName) {
    throw optionError(`the name of a consumer must have 1 to ${maxName} characters`);
  }
  if (!(Number.isSafeInteger(batch) && batch >= 1 && batch <= maxBatch)) {
    throw optionError(`"batch" must be a whole number from 1 to ${maxBatch}`);
  }
  if (!(Number.isSafeInteger(lease) && lease >= minLease)) {
    throw optionError(`"lease" must be a whole number of milliseconds from ${minLease}`);
  }
}
