import { UniqueError, VersionError, type Collection, type Stored } from "@fetchwork/documents";
import { isConnectionHeader } from "@fetchwork/kit";
import { runTogether } from "../../operations/joined-call.ts";
import type { Route } from "../../plan/route.ts";
import { Problem } from "../../problem.ts";
import type { Call } from "../../resource/call.ts";
import { type IdempotencyKey, readIdempotencyKey } from "./idempotency-key.ts";
import {
  type IdempotencyRecord,
  idempotencyRecords,
  keptFor,
  openResponse,
  sealResponse,
} from "./idempotency-record.ts";

/** Milliseconds after which a key falls free whose request ended with its process. */
const lockedFor = 300_000;

/** Bytes of a response's body that are kept at most. */
const maxKeptBody = 1_048_576;

/** A response with a secret is kept under a key only that nobody guesses. */
const minSecretLength = 20;

/** Headers that belong to one response, in addition to those of one connection. */
const passing: ReadonlySet<string> = new Set(["content-length", "date"]);

const retryable: ReadonlySet<number> = new Set([408, 409, 425, 429]);

type Handle = (call: Call) => Promise<Response> | Response;

/** A request under a key. */
export interface KeyedCall {
  readonly key: IdempotencyKey;
  readonly call: Call;
  readonly handle: Handle;
}

/**
 * Handles a request once under its key: the handler's changes and the record of its response are
 * one transaction. Neither is there without the other, whenever the process ends. Repetitions wait
 * for it.
 *
 * An error that the handler throws undoes everything, and leaves no record.
 *
 * @throws Problem 422 for a key of another request, 409 for a response that was not kept.
 */
export async function runInTransaction({ key, call, handle }: KeyedCall): Promise<Response> {
  const kept = call.store.collection(idempotencyRecords);
  const known = await kept.get(key.id);
  if (known && counts(known)) return replay(known, key);
  const attempt = (): Promise<Response> =>
    runTogether(call, async (joined, transaction) => {
      const records = transaction.collection(idempotencyRecords);
      const before = await records.get(key.id);
      if (before && counts(before)) return replay(before, key);
      const response = await handle(joined);
      if (!isKept(response)) return response;
      const { sealed, copy } = await keep(response, key);
      const record = { ...recordOf(key), response: sealed };
      if (before) await records.replace(key.id, record);
      else await records.insert(record, { id: key.id });
      return copy;
    });
  try {
    return await attempt();
  } catch (error) {
    // Another process may have been faster: then its change is what conflicted here, such as a
    // unique value.
    const done = await kept.get(key.id);
    if (done && counts(done)) return replay(done, key);
    if (error instanceof UniqueError && error.collection === idempotencyRecords.name) {
      return attempt().catch(refuseTaken);
    }
    throw error;
  }
}

/**
 * Handles a request once under its key, whatever the handler changes and where: the key is taken
 * before it runs. Should the process end before that, the key falls free after five minutes.
 *
 * @throws Problem 422 for a key of another request; 409 for a response that was not kept, and while
 *   the first request runs.
 */
export async function runWithLease({ key, call, handle }: KeyedCall): Promise<Response> {
  const records = call.store.collection(idempotencyRecords);
  const { known, lease } = await take(records, key);
  if (known) return replay(known, key);
  let response: Response;
  try {
    response = await handle(call);
    if (!isKept(response)) {
      await refund(records, lease);
      return response;
    }
  } catch (error) {
    await refund(records, lease);
    throw error;
  }
  // From here on the work is done: should this fail, a repetition must not do it again.
  const { sealed, copy } = await keep(response, key);
  await records.replace(key.id, { ...recordOf(key), response: sealed });
  return copy;
}

/** Takes a key, or tells what is known about it. */
async function take(records: Collection<IdempotencyRecord>, key: IdempotencyKey): Promise<Taken> {
  const record = { fingerprint: key.fingerprint, until: Date.now() + lockedFor };
  try {
    return { lease: await records.insert(record, { id: key.id }) };
  } catch (error) {
    if (!(error instanceof UniqueError)) throw error;
  }
  const known = await records.get(key.id);
  if (known && counts(known)) return { known };
  try {
    // One that is old, or of a request that never ended.
    const lease = known && (await records.replace(key.id, record, { ifVersion: known }));
    if (lease) return { lease };
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
  }
  throw running();
}

/** Known record of a key, or the lease with which the key was taken. */
type Taken =
  | { readonly known: Stored<IdempotencyRecord>; readonly lease?: undefined }
  | { readonly lease: Stored<IdempotencyRecord>; readonly known?: undefined };

/** Frees a key, unless it fell free before and somebody else has it. */
async function refund(
  records: Collection<IdempotencyRecord>,
  record: Stored<IdempotencyRecord>,
): Promise<void> {
  try {
    await records.remove(record.id, { ifVersion: record });
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
  }
}

/** Whether a record is of our time. */
function counts({ until }: IdempotencyRecord): boolean {
  return until > Date.now();
}

/** The identifier of a record that has just expired is not free yet. */
function refuseTaken(error: unknown): never {
  throw error instanceof UniqueError && error.collection === idempotencyRecords.name
    ? running()
    : error;
}

function running(): Problem {
  const detail = "a request with this Idempotency-Key is running";
  return new Problem(409, { detail, headers: { "retry-after": "1" } });
}

function recordOf({ fingerprint }: IdempotencyKey): IdempotencyRecord {
  return { fingerprint, until: Date.now() + keptFor };
}

function replay(record: IdempotencyRecord, key: IdempotencyKey): Response {
  if (record.fingerprint !== key.fingerprint) {
    throw new Problem(422, { detail: "this Idempotency-Key belongs to another request" });
  }
  if (record.response === undefined) throw running();
  if (record.response === null) {
    throw new Problem(409, { detail: "the request was done, and its response was not kept" });
  }
  const { status, headers, body } = openResponse(record.response, key);
  const again = new Headers(headers.map(([name, value]) => [name, value]));
  again.set("idempotency-replayed", "true");
  return responseOf(status, again, body);
}

/** A response that may be another one next time is not kept. */
function isKept({ status }: Response): boolean {
  return status < 500 && !retryable.has(status);
}

interface Kept {
  readonly sealed: string | null;
  /** Response to send, since the body of the first one has been read. */
  readonly copy: Response;
}

async function keep(response: Response, key: IdempotencyKey): Promise<Kept> {
  const { status, headers } = response;
  const isSecret = headers.get("cache-control")?.includes("no-store") === true;
  if (isSecret && key.secret.length < minSecretLength) return { sealed: null, copy: response };
  const body = new Uint8Array(await response.arrayBuffer());
  const fields = [...headers].filter(([name]) => !isConnectionHeader(name) && !passing.has(name));
  const copy = responseOf(status, new Headers(headers), body);
  if (body.byteLength > maxKeptBody) return { sealed: null, copy };
  return { sealed: sealResponse({ status, headers: fields, body }, key), copy };
}

function responseOf(status: number, headers: Headers, body: Uint8Array<ArrayBuffer>): Response {
  const hasNone = status === 204 || status === 205 || status === 304;
  return new Response(hasNone ? null : body, { status, headers });
}

/** Handles a call; `sent` are the fields of its body as they came, without a token. */
export type CallHandler = (call: Call, sent: unknown) => Promise<Response> | Response;

/**
 * Makes the function that handles calls of a route: those of a POST with an `Idempotency-Key` once
 * per key.
 */
export function callHandler(route: Route): CallHandler {
  // The rule and the schema that fix the types of body and user have been applied before.
  const handle = (call: Call): Promise<Response> | Response =>
    route.handle(call as Call<never, never>);
  if (route.method !== "POST" || route.raw === true) return handle;
  const { atomic = route.resource !== undefined } = route;
  const runOnce = atomic ? runInTransaction : runWithLease;
  return (call, sent) => {
    const key = readIdempotencyKey(route, call, sent);
    return key ? runOnce({ key, call, handle }) : handle(call);
  };
}
