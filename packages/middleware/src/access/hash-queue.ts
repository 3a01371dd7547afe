import { Semaphore } from "@fetchwork/kit";

// One for the process, because memory and processors belong to the process: an Argon2id hash needs
// 64 MiB. Clients do not wait longer than 100 hashes take, and an attacker could fill a longer
// queue.
const hashes = new Semaphore(4, { maxWaiting: 100 });

/**
 * Computes a password hash: at most four at a time in a process.
 *
 * @throws QueueFullError when 100 computations wait already, as a rejection
 */
export async function runInHashQueue<T>(compute: () => Promise<T>): Promise<T> {
  await hashes.acquire();
  try {
    return await compute();
  } finally {
    hashes.release();
  }
}
