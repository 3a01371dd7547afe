import { administer, type CollectionDefinition, type Store } from "@fetchwork/documents";
import { jobCollections } from "@fetchwork/documents/jobs";
import { senderCollections } from "@fetchwork/webhooks/sender";
import { effects } from "./effects.ts";
import type { Ledger } from "./ledger.ts";
import { account, note, purse, receipt, refusedText, transfer } from "./model.ts";

/** A statement about the documents, and how many of them contradict it. */
export interface Comparison {
  readonly statement: string;
  /** How many were compared. */
  readonly compared: number;
  /** The first few that contradict it, in words. */
  readonly differences: readonly string[];
  readonly differing: number;
}

/** Compares what the stores have with what the service acknowledged. */
export async function compare(
  documents: Store,
  booked: Store,
  ledger: Ledger,
): Promise<readonly Comparison[]> {
  const transfers = await all(documents, transfer.collection);
  const notes = await all(documents, note.collection);
  const receipts = await all(documents, receipt.collection);
  const accounts = await all(documents, account.collection);
  const done = await all(booked, effects);
  const transferOf = new Map(transfers.map((one) => [one.reference, one]));
  const noteOf = new Map(notes.map((one) => [one.id, one]));
  const receiptsOf = countBy(receipts, ({ reference }) => reference);
  const effectsOf = countBy(done, ({ action, about }) => `${action} ${about}`);
  const references = [...transfers, ...notes].map(({ reference }) => reference);
  const balances = purseOf(ledger);
  const jobs = await documents.collection(jobCollections.jobs).find();
  const deliveries = await documents
    .collection(senderCollections.deliveries)
    .find({ where: { status: { in: ["pending", "dead"] } } });
  const checks = await Promise.all([documents, booked].map((store) => administer(store).check()));

  return [
    comparison(
      "each acknowledged transfer is there as it was sent",
      ledger.transfers,
      ([key, sent]) => {
        const found = transferOf.get(key);
        const isSame =
          found?.from === sent.from && found.to === sent.to && found.cents === sent.cents;
        return isSame ? undefined : `transfer ${key}`;
      },
    ),
    comparison(
      "each acknowledged note is there as it was last changed",
      ledger.notes,
      ([id, sent]) => {
        const found = noteOf.get(id);
        const isSame =
          found?.reference === sent.reference &&
          found.text === sent.text &&
          found.mood === sent.mood;
        return isSame ? undefined : `note ${id}: ${JSON.stringify(found)}`;
      },
    ),
    comparison("no removed note is there", ledger.removed, (id) =>
      noteOf.has(id) ? `note ${id}` : undefined,
    ),
    comparison("nothing is there that was not acknowledged", [...transfers, ...notes], (one) =>
      ledger.transfers.has(one.reference) || ledger.notes.has(one.id)
        ? undefined
        : `document ${JSON.stringify(one)}`,
    ),
    comparison("nothing is there that was refused", ledger.refused, (reference) =>
      references.includes(reference) ? reference : undefined,
    ),
    comparison("no note has a text that must be refused", notes, ({ text }) =>
      text.startsWith(refusedText) ? text : undefined,
    ),
    comparison(
      "nothing is there twice",
      countBy(references, (one) => one),
      ([reference, count]) => (count === 1 ? undefined : `${reference} ${count} times`),
    ),
    comparison("each balance is what the acknowledged transfers make it", accounts, (one) =>
      one.cents === balances[one.number] ? undefined : `account ${one.number}: ${one.cents}`,
    ),
    comparison("the total of all balances is the same", [0], () => {
      const total = accounts.reduce((sum, { cents }) => sum + cents, 0);
      return total === purse.accounts * purse.cents ? undefined : `total ${total}`;
    }),
    comparison("the job of each transfer took effect once", transfers, ({ reference }) =>
      receiptsOf.get(reference) === 1
        ? undefined
        : `${reference}: ${receiptsOf.get(reference) ?? 0} times`,
    ),
    comparison("no job is left or dead", jobs, (job) => JSON.stringify(job)),
    comparison("the webhook of each transfer took effect once", transfers, ({ reference }) =>
      effectsOf.get(`made ${reference}`) === 1
        ? undefined
        : `${reference}: ${effectsOf.get(`made ${reference}`) ?? 0} times`,
    ),
    comparison("the webhook of each created note took effect once", ledger.created, (id) =>
      effectsOf.get(`created ${id}`) === 1
        ? undefined
        : `${id}: ${effectsOf.get(`created ${id}`) ?? 0} times`,
    ),
    comparison("the webhook of each removed note took effect once", ledger.removed, (id) =>
      effectsOf.get(`removed ${id}`) === 1
        ? undefined
        : `${id}: ${effectsOf.get(`removed ${id}`) ?? 0} times`,
    ),
    comparison(
      "no event took effect twice",
      countBy(done, ({ event }) => event),
      ([event, count]) => (count === 1 ? undefined : `${event} ${count} times`),
    ),
    comparison("no delivery is left or dead", deliveries, (one) => JSON.stringify(one)),
    comparison("administer(store).check() finds nothing", checks, ({ ok, problems }) =>
      ok ? undefined : JSON.stringify(problems),
    ),
    {
      statement: "every response was an expected one, and no process ended by itself",
      compared: ledger.counts.get("requests") ?? 0,
      differences: ledger.differences.slice(0, 20),
      differing: ledger.differences.length,
    },
  ];
}

function comparison<T>(
  statement: string,
  items: Iterable<T>,
  differenceOf: (item: T) => string | undefined,
): Comparison {
  const compared = [...items];
  const differences = compared.flatMap((item) => differenceOf(item) ?? []);
  return {
    statement,
    compared: compared.length,
    differences: differences.slice(0, 5),
    differing: differences.length,
  };
}

/** What each account must have, by number. */
function purseOf({ transfers }: Ledger): readonly number[] {
  const balances = Array.from({ length: purse.accounts }, () => purse.cents as number);
  for (const { from, to, cents } of transfers.values()) {
    balances[from] = (balances[from] ?? 0) - cents;
    balances[to] = (balances[to] ?? 0) + cents;
  }
  return balances;
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

async function all<T extends object>(
  store: Store,
  collection: CollectionDefinition<T>,
): Promise<readonly (T & { readonly id: string })[]> {
  return store.collection(collection).find();
}
