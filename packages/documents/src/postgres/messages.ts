import type { Value } from "./sql.ts";

/** The results as text; the end of Bind, then Execute and Sync. */
const TAIL = Buffer.from([0, 0, 0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);
const BIND = 0x42;
const PARSE = 0x50;
const CLOSE = 0x43;
const STATEMENT = 0x53;
const NULL_LENGTH = -1;
/** What a literal of an array has a backslash before. */
const ESCAPED = /["\\]/g;

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
 * it lacks it, Bind, Execute and Sync. Values are written as text.
 */
export function statementMessages({
  name,
  values,
  text,
  isUnsure = false,
}: StatementMessages): Buffer {
  const texts = values.map(valueText);
  const nameSize = Buffer.byteLength(name) + 1;
  let bindSize = 4 + 1 + nameSize + 2 + 2;
  const sizes = texts.map((value) => (value === null ? NULL_LENGTH : Buffer.byteLength(value)));
  for (const size of sizes) bindSize += 4 + Math.max(size, 0);
  const closeSize = isUnsure ? 4 + 1 + nameSize : 0;
  const parseSize = text === undefined ? 0 : 4 + nameSize + Buffer.byteLength(text) + 1 + 2;
  // The length in Bind counts the two bytes with which the tail begins.
  const size = messageSize(closeSize) + messageSize(parseSize) + 1 + bindSize + TAIL.length;
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  if (isUnsure) {
    at = buffer.writeUInt8(CLOSE, at);
    at = buffer.writeInt32BE(closeSize, at);
    at = buffer.writeUInt8(STATEMENT, at);
    at = writeText(buffer, name, at);
  }
  if (text !== undefined) {
    at = buffer.writeUInt8(PARSE, at);
    at = buffer.writeInt32BE(parseSize, at);
    at = writeText(buffer, name, at);
    at = writeText(buffer, text, at);
    at = buffer.writeInt16BE(0, at);
  }
  at = buffer.writeUInt8(BIND, at);
  at = buffer.writeInt32BE(bindSize + 2, at);
  at = buffer.writeUInt8(0, at);
  at = writeText(buffer, name, at);
  at = buffer.writeInt16BE(0, at);
  at = buffer.writeUInt16BE(values.length, at);
  for (const [index, value] of texts.entries()) {
    at = buffer.writeInt32BE(sizes[index] ?? NULL_LENGTH, at);
    if (value !== null) at += buffer.write(value, at);
  }
  TAIL.copy(buffer, at);
  return buffer;
}

function messageSize(size: number): number {
  return size === 0 ? 0 : size + 1;
}

/** Writes a text and the zero behind it. */
function writeText(buffer: Buffer, text: string, at: number): number {
  return buffer.writeUInt8(0, at + buffer.write(text, at));
}

function valueText(value: Value): string | null {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  return `{${value.map(elementText).join(",")}}`;
}

function elementText(element: number | string | null): string {
  if (element === null) return "NULL";
  return `"${String(element).replaceAll(ESCAPED, "\\$&")}"`;
}
