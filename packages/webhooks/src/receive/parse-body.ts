import { WebhookError } from "../errors.ts";
import type { UnknownPayload } from "../event-map.ts";
import type { BodyKind } from "../body-kind.ts";

// Fatal, because JSON must be UTF-8 (RFC 8259, 8.1). A byte-order mark is ignored, as the same
// section allows.
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses a payload, which is an object or an array. A form has it as JSON in its field `payload`;
 * without that field, its fields are the payload.
 *
 * @throws WebhookError `ERR_WEBHOOKS_JSON`
 */
export function parseBody(body: string | Uint8Array, kind: BodyKind): UnknownPayload {
  let value: unknown;
  try {
    const text = typeof body === "string" ? body : decoder.decode(body);
    value = kind === "json" ? JSON.parse(text) : parseForm(text);
  } catch {
    // Without the cause: its message quotes the body.
    throw jsonError("Invalid JSON");
  }
  if (typeof value !== "object" || value === null) {
    throw jsonError("Invalid JSON: expected an object");
  }
  // Any object has fields with unknown values.
  return value as UnknownPayload;
}

function parseForm(text: string): unknown {
  const fields = new URLSearchParams(text);
  const payload = fields.get("payload");
  if (payload !== null) return JSON.parse(payload);
  // Without a prototype, because a field may have any name. The first of several values wins.
  const record = Object.create(null) as Record<string, string>;
  for (const [name, value] of fields) record[name] ??= value;
  return record;
}

function jsonError(message: string): WebhookError {
  const errors = [new SyntaxError(message)];
  return new WebhookError("ERR_WEBHOOKS_JSON", message, { status: 400, errors });
}
