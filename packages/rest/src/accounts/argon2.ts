import crypto from "node:crypto";
import { Worker } from "node:worker_threads";
import { Problem } from "../problem.ts";

/** One computation of Argon2id (RFC 9106). */
export interface Argon2Input {
  readonly message: Uint8Array;
  readonly nonce: Uint8Array;
  /** Memory in KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  /** Length of the result in bytes. */
  readonly tagLength: number;
}

/** Computations that run at once: each holds its memory for the whole time. */
const maxRunning = 4;

/** Callers that may wait in each of the two queues; more would wait longer than a client does. */
const maxWaiting = { first: 200, last: 50 } as const;

/** The next turn when a computation ends: all of `first` come before any of `last`. */
export type Turn = keyof typeof maxWaiting;

// One machine, one memory: the limits hold for the process, whatever number of APIs it serves.
let running = 0;
const waiting: Readonly<Record<Turn, (() => void)[]>> = { first: [], last: [] };

/**
 * Computes Argon2id off the event loop: in Node's thread pool where `crypto.argon2` exists (24.7 or
 * later), else in a worker with `hash-wasm`. At most four run at once.
 *
 * @throws Problem 503 when 200 others (50 for `last`) are waiting for the same turn already.
 */
export async function argon2id(input: Argon2Input, turn: Turn): Promise<Buffer> {
  if (running >= maxRunning) {
    if (waiting[turn].length >= maxWaiting[turn]) {
      throw new Problem(503, {
        detail: "too many sign-ins at once",
        headers: { "retry-after": "5" },
      });
    }
    await new Promise<void>((resolve) => waiting[turn].push(resolve));
  } else {
    running += 1;
  }
  try {
    return await compute(input);
  } finally {
    const next = waiting.first.shift() ?? waiting.last.shift();
    if (next) next();
    else running -= 1;
  }
}

const compute = "argon2" in crypto ? computeInThreadPool : computeInWorker;

function computeInThreadPool(input: Argon2Input): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    crypto.argon2("argon2id", input, (error, tag) => {
      if (error) reject(error);
      else resolve(tag);
    });
  });
}

/** Computes in a separate worker, for a Node without `crypto.argon2`. */
export function computeInWorker(input: Argon2Input): Promise<Buffer> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(`./argon2-worker.${extension}`, import.meta.url), {
      workerData: input,
    });
    worker.once("message", (tag: Uint8Array) => resolve(Buffer.from(tag)));
    worker.once("error", reject);
  });
}
