import type { Vendor } from "@fetchwork/webhooks";
import { fieldsOf, type SavedDelivery } from "./saved-delivery.ts";

/** Identifier, event and payload of a delivery, unverified. */
interface DeliveryContent {
  /** `""` when it has none. */
  readonly id: string;
  /** Name and action; `?` for a missing name. */
  readonly event: string;
  /** The payload: parsed JSON or form, or else text; `undefined` when it is empty or binary. */
  readonly payload: unknown;
}

/** Reads a delivery as a vendor writes it. */
export function contentOf(vendor: Vendor, { headers, body }: SavedDelivery): DeliveryContent {
  const given = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
  const payload = payloadOf(body, given.get("content-type") ?? "");
  const fields = fieldsOf(payload);
  const header = (name: string | undefined): string => (name && given.get(name)) || "";
  const { id, name } = vendor.describe?.(given, fields) ?? {
    id: header(vendor.deliveryHeader),
    name: header(vendor.eventHeader),
  };
  const action = typeof fields["action"] === "string" ? `.${fields["action"]}` : "";
  return { id, event: `${name || "?"}${action}`, payload };
}

function payloadOf(body: Uint8Array, contentType: string): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType);
  const fields = isForm ? Object.fromEntries(new URLSearchParams(text)) : undefined;
  const json = fields === undefined ? text : fields["payload"];
  try {
    return json === undefined ? fields : (JSON.parse(json) as unknown);
  } catch {
    return text === "" ? undefined : text;
  }
}
