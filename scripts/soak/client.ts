import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { hostileTexts } from "../../test/blog-fuzz/requests.ts";
import type { Random } from "../../test/blog-fuzz/random.ts";
import type { Ledger } from "./ledger.ts";
import { refusedText } from "./model.ts";
import type { Outcome, SoakRequest } from "./requester.ts";

/** What a client of the soak works with. */
export interface ClientOptions {
  readonly send: (request: SoakRequest) => Promise<Outcome>;
  readonly random: Random;
  readonly ledger: Ledger;
  /** Identifiers of the accounts, by number. */
  readonly accounts: readonly string[];
  /** Whether the processes know the field that the second version of the model has. */
  readonly knowsMood: () => boolean;
  readonly signal: AbortSignal;
}

/**
 * Works as one client until the signal aborts. Changes only its own notes, one request after the
 * other.
 */
export async function runClient(options: ClientOptions): Promise<void> {
  const { accounts, ledger, random, send, signal } = options;
  const own: string[] = [];
  const weighted = [
    ...Array.from({ length: 9 }, () => makeTransfer),
    ...Array.from({ length: 5 }, () => createNote),
    changeNote,
    changeNote,
    removeNote,
    readNote,
    readNote,
    readList,
    sendRefused,
    overdraw,
  ] as const;

  while (!signal.aborted) {
    try {
      await random.pickOr(weighted, makeTransfer)();
    } catch (error) {
      ledger.differs(String(error));
    }
    await setTimeout(random.below(40));
  }

  /** Returns the document of a final response; any other response is a difference. */
  function expectStatus(outcome: Outcome, expected: number, what: string): boolean {
    if (outcome.status === expected) return true;
    ledger.differs(`${what}: status ${outcome.status} ${JSON.stringify(outcome.body)}`);
    return false;
  }

  async function makeTransfer(): Promise<void> {
    const reference = randomUUID();
    const { from, to } = twoAccounts();
    const cents = 1 + random.below(100);
    const body = { reference, from: accounts[from], to: accounts[to], cents };
    const outcome = await send({ method: "POST", path: "/transfer-orders", body });
    if (outcome.status === 422) refuse(reference, outcome);
    else if (expectStatus(outcome, 201, "transfer")) {
      ledger.transfers.set(reference, { from, to, cents });
    }
  }

  /** Asks for more than all accounts have together. */
  async function overdraw(): Promise<void> {
    const reference = randomUUID();
    const { from, to } = twoAccounts();
    const body = { reference, from: accounts[from], to: accounts[to], cents: 1_000_000_000 };
    const outcome = await send({ method: "POST", path: "/transfer-orders", body });
    if (expectStatus(outcome, 422, "overdraft")) refuse(reference, outcome);
  }

  async function sendRefused(): Promise<void> {
    const reference = randomUUID();
    const body = { reference, text: `${refusedText} ${reference}` };
    const outcome = await send({ method: "POST", path: "/notes", body });
    if (expectStatus(outcome, 400, "invalid note")) refuse(reference, outcome);
  }

  async function createNote(): Promise<void> {
    const reference = randomUUID();
    const text = random.chance(0.001) ? random.pick(hostileTexts) : `note ${random.below(1e9)}`;
    const mood = options.knowsMood() && random.chance(0.5) ? "glad" : undefined;
    const body = { reference, text, ...(mood && { mood }) };
    const outcome = await send({ method: "POST", path: "/notes", body });
    const { id } = outcome.body;
    if (outcome.status === 400 && !text.startsWith("note ")) refuse(reference, outcome);
    else if (expectStatus(outcome, 201, "note") && typeof id === "string") {
      ledger.notes.set(id, { reference, text, mood, etag: outcome.etag });
      ledger.created.add(id);
      own.push(id);
    }
  }

  async function changeNote(): Promise<void> {
    const id = random.pickOr(own, "");
    const known = ledger.notes.get(id);
    if (known === undefined) return;
    const text = `note ${random.below(1e9)} changed`;
    const path = `/notes/${id}`;
    let outcome = await send({ method: "PATCH", path, body: { text }, ifMatch: known.etag });
    // An attempt without a response may have changed it.
    if (outcome.isRepeated && outcome.status === 412) {
      outcome = await send({ method: "GET", path });
      if (outcome.body["text"] !== text) return ledger.differs(`change of ${id}: status 412`);
    }
    if (expectStatus(outcome, 200, `change of ${id}`)) {
      ledger.notes.set(id, { ...known, text, etag: outcome.etag });
    }
  }

  async function removeNote(): Promise<void> {
    const id = own.splice(random.below(own.length), 1)[0];
    if (id === undefined) return;
    const outcome = await send({ method: "DELETE", path: `/notes/${id}` });
    // An attempt without a response may have removed it.
    const isRemoved = outcome.isRepeated && outcome.status === 404;
    if (isRemoved || expectStatus(outcome, 204, `removal of ${id}`)) {
      ledger.notes.delete(id);
      ledger.removed.add(id);
    }
  }

  /** Reads what it wrote. */
  async function readNote(): Promise<void> {
    const id = random.pickOr(own, "");
    const known = ledger.notes.get(id);
    if (known === undefined) return;
    const outcome = await send({ method: "GET", path: `/notes/${id}` });
    if (!expectStatus(outcome, 200, `read of ${id}`)) return;
    const { reference, text } = outcome.body;
    if (reference !== known.reference || text !== known.text) {
      ledger.differs(`${id} is read as ${JSON.stringify(outcome.body)}`);
    }
  }

  async function readList(): Promise<void> {
    const path = random.pick(["/notes?limit=10", "/transfers?limit=10", "/accounts?limit=20"]);
    const outcome = await send({ method: "GET", path });
    expectStatus(outcome, 200, path);
  }

  function refuse(reference: string, { isRepeated }: Outcome): void {
    ledger.count("requests refused");
    if (!isRepeated) ledger.refused.add(reference);
  }

  function twoAccounts(): { readonly from: number; readonly to: number } {
    const from = random.below(accounts.length);
    const to = (from + 1 + random.below(accounts.length - 1)) % accounts.length;
    return { from, to };
  }
}
