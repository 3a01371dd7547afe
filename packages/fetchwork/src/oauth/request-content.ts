import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandIo } from "../command/command-io.ts";

/** Body of a request. */
export interface RequestContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Media type, when the user names none. */
  readonly type: string;
}

/** Largest body that is sent; it is held in memory, so that it can be sent again after a refresh. */
const maxBytes = 104_857_600;

/**
 * Reads a body: a text, `@file`, or `@-` for standard input.
 *
 * @throws Error when it is larger than 100 MiB, or the file cannot be read
 */
export async function bodyOf(given: string, io: CommandIo): Promise<RequestContent> {
  const isText = !given.startsWith("@");
  const bytes = isText
    ? Buffer.from(given)
    : given === "@-"
      ? await readInput(io)
      : await readBounded(resolve(io.cwd, given.slice(1)));
  const fallback = isText ? "application/x-www-form-urlencoded" : "application/octet-stream";
  return { bytes, type: isJson(bytes) ? "application/json" : fallback };
}

async function readBounded(path: string): Promise<Buffer<ArrayBuffer>> {
  if ((await stat(path)).size > maxBytes) throw tooLarge();
  return readFile(path);
}

async function readInput({ stdin }: CommandIo): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(): Error {
  return new Error(`the body is larger than ${maxBytes} bytes`);
}

function isJson(bytes: Buffer): boolean {
  if (!/^\s*[[{]/.test(bytes.subarray(0, 100).toString("latin1"))) return false;
  try {
    JSON.parse(bytes.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}
