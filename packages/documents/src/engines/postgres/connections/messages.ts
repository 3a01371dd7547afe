import type { EncodedList, Value } from "../../operation.ts";
import { TextArray } from "./text-array.ts";

/** The results as text; the end of Bind, then Execute and Sync. */
const tailMessages = Buffer.from([0, 0, 0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);
const bindTag = 0x42;
const parseTag = 0x50;
const closeTag = 0x43;
const statementTag = 0x53;
const nullLength = -1;
/** What a literal of an array has a backslash before. */
const escapedCharacters = /["\\]/g;

/** A value as it is sent. */
type Prepared = EncodedList | string | null;

/** What a server is told to do with a statement. */
export interface StatementMessages {
  /** The name under which the server keeps it; empty for one that comes once. */
  readonly name: string;
  readonly values: readonly Value[];
  /** The statement, where the server does not have it. */
  readonly text?: string | undefined;
  /** Whether the server may have the name for a statement that is not to be relied on. */
  readonly isUnsure?: boolean;
}

/**
 * Writes what makes a server run a statement: Close if it may have another one of that name, Parse if
 * it lacks it, Bind, Execute and Sync.
 */
export function statementMessages({
  name,
  values,
  text,
  isUnsure = false,
}: StatementMessages): Buffer {
  const prepared = values.map(prepare);
  const nameSize = Buffer.byteLength(name) + 1;
  const closeSize = isUnsure ? 4 + 1 + nameSize : 0;
  const parseSize = text === undefined ? 0 : 4 + nameSize + Buffer.byteLength(text) + 1 + 2;
  const bindSize = 4 + 1 + nameSize + 2 + 2 * prepared.length + 2 + sizeOf(prepared);
  const size = messageSize(closeSize) + messageSize(parseSize) + 1 + bindSize + tailMessages.length;
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  if (isUnsure) {
    at = writeHead(buffer, { kind: closeTag, size: closeSize, at });
    at = buffer.writeUInt8(statementTag, at);
    at = writeText(buffer, name, at);
  }
  if (text !== undefined) {
    at = writeHead(buffer, { kind: parseTag, size: parseSize, at });
    at = writeText(buffer, name, at);
    at = writeText(buffer, text, at);
    at = buffer.writeInt16BE(0, at);
  }
  // The tail begins with the last two bytes of Bind.
  at = writeHead(buffer, { kind: bindTag, size: bindSize + 2, at });
  at = buffer.writeUInt8(0, at);
  at = writeText(buffer, name, at);
  at = writeValues(buffer, prepared, at);
  tailMessages.copy(buffer, at);
  return buffer;
}

function messageSize(size: number): number {
  return size === 0 ? 0 : size + 1;
}

function sizeOf(values: readonly Prepared[]): number {
  let size = 0;
  for (const value of values) {
    size += 4;
    if (typeof value === "string") size += Buffer.byteLength(value);
    else if (value !== null) size += value.size;
  }
  return size;
}

function writeHead(
  buffer: Buffer,
  { kind, size, at }: { readonly kind: number; readonly size: number; readonly at: number },
): number {
  return buffer.writeInt32BE(size, buffer.writeUInt8(kind, at));
}

/** Writes a text and the zero behind it. */
function writeText(buffer: Buffer, text: string, at: number): number {
  return buffer.writeUInt8(0, at + buffer.write(text, at));
}

/** Writes which values are binary, and the values. */
function writeValues(buffer: Buffer, values: readonly Prepared[], place: number): number {
  let at = buffer.writeUInt16BE(values.length, place);
  for (const value of values) at = buffer.writeInt16BE(isEncoded(value) ? 1 : 0, at);
  at = buffer.writeUInt16BE(values.length, at);
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(nullLength, at);
      continue;
    }
    const end =
      typeof value === "string"
        ? at + 4 + buffer.write(value, at + 4)
        : value.write(buffer, at + 4);
    buffer.writeInt32BE(end - at - 4, at);
    at = end;
  }
  return at;
}

function prepare(value: Value): Prepared {
  if (typeof value === "number") return String(value);
  if (value === null || typeof value === "string" || isEncoded(value)) return value;
  return `{${value.map(elementText).join(",")}}`;
}

function isEncoded(value: Value): value is EncodedList {
  return value instanceof TextArray;
}

function elementText(element: number | string | null): string {
  if (element === null) return "NULL";
  return `"${String(element).replaceAll(escapedCharacters, "\\$&")}"`;
}
