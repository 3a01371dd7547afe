/** How many computations run at once: each of Argon2id holds 64 MiB. */
const maxRunning = 4;

/** How many may wait. More would wait longer than a client does, and the queue would be an attack's to fill. */
const maxWaiting = 100;

// One for the process, because memory and processor are the process's: middlewares share it.
let running = 0;
const waiting: (() => void)[] = [];

/** Thrown for a computation that would have to wait behind too many others. */
export class HashQueueFullError extends Error {
  override readonly name: string = "HashQueueFullError";
}

/**
 * Runs a computation of a password hash when it is its turn.
 *
 * @throws HashQueueFullError when too many wait already, as a rejection
 */
export async function runInHashQueue<T>(compute: () => Promise<T>): Promise<T> {
  if (running < maxRunning) {
    running += 1;
  } else if (waiting.length < maxWaiting) {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
    });
  } else {
    throw new HashQueueFullError("too many password hashes at once");
  }
  try {
    return await compute();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
