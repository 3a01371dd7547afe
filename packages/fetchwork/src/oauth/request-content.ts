import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { BodyTooLargeError } from "@fetchwork/kit";
import type { CommandIo } from "../command/command-io.ts";
import { readInput } from "../command/read-input.ts";

/** Body of a request. */
export interface RequestContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Media type, when the user names none. */
  readonly type: string;
}

/** Maximum size of a body. It is held in memory, so that it can be sent again after a refresh. */
const maxBytes = 104_857_600;

/**
 * Reads a body: a text, `@file`, or `@-` for standard input.
 *
 * @throws BodyTooLargeError when it is larger than 100 MiB
 * @throws Error when the file cannot be read
 */
export async function bodyOf(given: string, io: CommandIo): Promise<RequestContent> {
  const isText = !given.startsWith("@");
  const bytes = isText
    ? Buffer.from(given)
    : given === "@-"
      ? await readInput(io, maxBytes)
      : await readBounded(resolve(io.cwd, given.slice(1)));
  const fallback = isText ? "application/x-www-form-urlencoded" : "application/octet-stream";
  return { bytes, type: isJson(bytes) ? "application/json" : fallback };
}

async function readBounded(path: string): Promise<Uint8Array<ArrayBuffer>> {
  if ((await stat(path)).size > maxBytes) throw new BodyTooLargeError(maxBytes);
  return readFile(path);
}

function isJson(bytes: Uint8Array): boolean {
  const decoder = new TextDecoder();
  if (!/^\s*[[{]/.test(decoder.decode(bytes.subarray(0, 100)))) return false;
  try {
    JSON.parse(decoder.decode(bytes));
    return true;
  } catch {
    return false;
  }
}
