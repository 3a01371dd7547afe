import { optionError } from "../errors.ts";
import type { EventMap, EventName, UnknownPayload } from "../event-map.ts";
import { checkOptions } from "../check-options.ts";
import type { HeaderReader } from "../headers.ts";
import type { SignatureScheme } from "../schemes/signature-scheme.ts";
import type { BodyKind } from "../body-kind.ts";

/** Identifier and event name of a delivery. */
export interface DeliveryNames {
  /** Identifier of the delivery. */
  readonly id: string;
  /** Name of the event, without its action. */
  readonly name: string;
}

/** How one platform delivers. Make one with {@link defineVendor}. */
export interface Vendor<Events extends EventMap = EventMap> {
  /** Names the vendor: lower-case letters, digits and `-`. */
  readonly name: string;
  /** Default path of receivers. */
  readonly path: string;
  /** How deliveries are signed. */
  readonly scheme: SignatureScheme;
  /** Header of the event name, as it is sent. Absent: the body contains the name. */
  readonly eventHeader?: string | undefined;
  /** Header of the delivery identifier, as it is sent. Absent: the body contains the identifier. */
  readonly deliveryHeader?: string | undefined;
  /** Names of events and of `<event>.<action>`. Empty: every name is known. */
  readonly eventNames: readonly string[];
  /** Kinds of bodies that receivers accept by default. Default: `["json"]`. */
  readonly contentTypes?: readonly BodyKind[] | undefined;
  /** Content type of what a sender sends. Default: `application/json`. */
  readonly contentType?: string | undefined;
  /** Response of receivers to an accepted delivery. Default: a word of plain text, such as `ok`. */
  readonly response?: { readonly contentType: string; readonly body: string } | undefined;
  /** Reads identifier and name. Default: the two headers, `""` for one that is absent. */
  readonly describe?:
    ((headers: HeaderReader, payload: UnknownPayload) => DeliveryNames) | undefined;
  /**
   * Reads the identifier of the delivery from the body, for platforms that write one into it and
   * sign the body. `""` when it has none. Default: none but that of the scheme.
   */
  readonly signedId?: ((payload: UnknownPayload) => string) | undefined;
  /** Reads the action of a payload. Default: `payload.action` when it is a string. */
  readonly actionOf?: ((payload: UnknownPayload) => string | undefined) | undefined;
  /** Returns the text to respond to a handshake with, instead of `ok`. Default: none. */
  readonly handshakeResponse?: ((payload: UnknownPayload) => string | undefined) | undefined;
  /** Carries the type of the events; never set. */
  readonly events?: Events | undefined;
}

/**
 * Checks that an option is a vendor, and not the name of a vendor.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function checkVendor(vendor: unknown): asserts vendor is Vendor {
  if (typeof vendor === "object" && vendor !== null && "scheme" in vendor) return;
  throw optionError("vendor", vendor, "a vendor, such as github of @fetchwork/webhooks/vendors");
}

const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;

/**
 * Describes a platform.
 *
 * @example
 * ```ts
 * interface ShopEvents {
 *   "order.paid": { readonly total: number };
 * }
 * const shop = defineVendor<ShopEvents>({
 *   name: "shop",
 *   path: "/hooks/shop",
 *   scheme: hmacScheme({ header: "X-Shop-Signature" }),
 *   eventHeader: "X-Shop-Event",
 *   deliveryHeader: "X-Shop-Delivery",
 *   eventNames: ["order.paid"],
 * });
 * ```
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function defineVendor<Events extends EventMap>(
  vendor: Vendor<Events> & { readonly eventNames: readonly EventName<Events>[] },
): Vendor<Events> {
  checkOptions("defineVendor", vendor, [
    "name",
    "path",
    "scheme",
    "eventHeader",
    "deliveryHeader",
    "eventNames",
    "contentTypes",
    "contentType",
    "response",
    "describe",
    "signedId",
    "actionOf",
    "handshakeResponse",
    "events",
  ]);
  const { name, path, scheme, eventHeader, deliveryHeader, describe, eventNames } = vendor;
  if (typeof name !== "string" || !/^[a-z\d-]{1,40}$/.test(name)) {
    throw optionError("name", name, "1 to 40 lower-case letters, digits and hyphens");
  }
  if (typeof path !== "string" || !path.startsWith("/")) {
    throw optionError("path", path, "a path that begins with a slash");
  }
  if (typeof scheme?.createKey !== "function") {
    throw optionError("scheme", scheme, "a signature scheme");
  }
  for (const [what, header] of Object.entries({ eventHeader, deliveryHeader })) {
    if (header !== undefined && !token.test(header)) {
      throw optionError(what, header, "the name of a header");
    }
  }
  if (eventHeader === undefined && describe === undefined) {
    throw optionError("describe", describe, "a function, because there is no eventHeader");
  }
  if (!Array.isArray(eventNames)) throw optionError("eventNames", eventNames, "a list of names");
  return Object.freeze({ ...vendor });
}
