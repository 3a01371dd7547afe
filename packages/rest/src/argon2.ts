import crypto from "node:crypto";
import { Worker } from "node:worker_threads";
import { Problem } from "./problem.ts";

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

/** Callers that may wait their turn; more would wait longer than a client does. */
const maxWaiting = 200;

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Computes Argon2id off the event loop: in Node's thread pool where `crypto.argon2` exists (24.7 or later), else
 * in a worker with `hash-wasm`. At most four run at once.
 *
 * @throws Problem 503 when 200 others are waiting already.
 */
export async function argon2id(input: Argon2Input): Promise<Buffer> {
  if (running >= maxRunning) {
    if (waiting.length >= maxWaiting) {
      throw new Problem(503, {
        detail: "too many sign-ins at once",
        headers: { "retry-after": "5" },
      });
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await compute(input);
  } finally {
    const next = waiting.shift();
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

/** Computes in a worker of its own, for a Node without `crypto.argon2`. */
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
