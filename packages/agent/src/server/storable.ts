import type { JsonObject } from "./task-agent.ts";

/** The text without what no store keeps: models do write U+0000 and halves of surrogate pairs. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** The same for everything in an object. */
export function storableObject(value: JsonObject): JsonObject {
  const entries = Object.entries(value).map(([key, entry]) => [storableText(key), storable(entry)]);
  return Object.fromEntries(entries) as JsonObject;
}

function storable(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  // The store refuses objects that are more than JSON.
  const isPlain = Object.prototype.toString.call(value) === "[object Object]";
  return isPlain ? storableObject(value as JsonObject) : value;
}
