import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isConnectionHeader } from "@fetchwork/kit";

/** A delivery as saved in a file, byte for byte. */
export interface SavedDelivery {
  /** When it came; ISO 8601. */
  readonly receivedAt: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case, and values, as they came. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Writes a delivery to a file of a folder, for its owner alone. Resolves to the path. */
export async function saveDelivery(
  delivery: SavedDelivery,
  { folder, name }: { readonly folder: string; readonly name: string },
): Promise<string> {
  const text = readableText(delivery.body);
  const body =
    text === undefined ? { base64: Buffer.from(delivery.body).toString("base64") } : { text };
  const content = JSON.stringify({ ...delivery, body }, undefined, 2);
  const stem = `${delivery.receivedAt.replace(/[:.]/g, "-")}-${name.replace(/[^\w.-]/g, "_").slice(0, 120)}`;
  for (let attempt = 0; ; attempt += 1) {
    const path = join(folder, `${stem}${attempt === 0 ? "" : `-${attempt}`}.json`);
    try {
      await writeFile(path, `${content}\n`, { mode: 0o600, flag: "wx" });
      return path;
    } catch (error) {
      const isTaken = error instanceof Error && "code" in error && error.code === "EEXIST";
      if (!isTaken) throw error;
    }
  }
}

/** Reads a delivery back; `undefined` when the content of the file is something else. */
export function parseDelivery(content: Uint8Array): SavedDelivery | undefined {
  let saved: unknown;
  try {
    saved = JSON.parse(new TextDecoder().decode(content));
  } catch {
    return undefined;
  }
  const { receivedAt, method, path, headers, body } = fieldsOf(saved);
  const { text, base64 } = fieldsOf(body);
  const isWhole =
    typeof receivedAt === "string" &&
    typeof method === "string" &&
    typeof path === "string" &&
    Array.isArray(headers) &&
    headers.every(isPair) &&
    (typeof text === "string" || typeof base64 === "string");
  if (!isWhole) return undefined;
  const bytes =
    typeof text === "string" ? Buffer.from(text) : Buffer.from(String(base64), "base64");
  return { receivedAt, method, path, headers, body: bytes };
}

/** Headers that a new request sets itself, next to those of the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  "accept-encoding",
  "content-length",
  "expect",
  "host",
  "proxy-authorization",
]);

/** A payload as an object; an empty one when it is something else. */
export function fieldsOf(payload: unknown): Readonly<Record<string, unknown>> {
  return typeof payload === "object" && payload !== null ? { ...payload } : {};
}

/** The headers with which a delivery is sent on: its own, without those of its connection. */
export function headersToSend({ headers }: SavedDelivery): Headers {
  const kept = headers.filter(([name]) => {
    const key = name.toLowerCase();
    return !isConnectionHeader(key) && !ownHeaders.has(key);
  });
  return new Headers(kept.map(([name, value]): [string, string] => [name, value]));
}

/** The text of a body, when writing it as text loses nothing. */
function readableText(body: Uint8Array): string | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  return Buffer.compare(Buffer.from(text), body) === 0 ? text : undefined;
}

function isPair(value: unknown): value is readonly [string, string] {
  return (
    Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === "string")
  );
}
