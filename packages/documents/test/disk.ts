import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import type { Store } from "../src/index.ts";
import { mountDisk } from "./mount-disk.ts";
import { counters } from "./process-collections.ts";

/** Makes a disk in memory, which is gone when the test ends. */
export function makeDisk(size: number): string {
  const { folder, remove } = mountDisk(size);
  onTestFinished(remove);
  return folder;
}

/**
 * Adds documents until that fails; returns the error and the names of those that were acknowledged.
 */
export async function writeUntilRefused(
  store: Store,
  size = 3000,
): Promise<{ readonly error: unknown; readonly names: readonly string[] }> {
  const names: string[] = [];
  for (;;) {
    // What compresses well would take long to fill a disk.
    const name = `${names.length} ${randomBytes(size).toString("base64")}`;
    try {
      await store.collection(counters).insert({ name, value: 1 });
    } catch (error) {
      return { error, names };
    }
    names.push(name);
  }
}
