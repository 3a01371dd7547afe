import { checkOptions } from "../check-options.ts";
import { WebhookUsageError } from "../errors.ts";
import type { EventMap } from "../event-map.ts";
import { bodyKindOf } from "../body-kind.ts";
import { parseBody } from "../receive/parse-body.ts";
import { Webhooks } from "../receive/webhooks.ts";
import type { MessageToSign } from "../schemes/signature-scheme.ts";
import { vendor as defaultVendor } from "../vendors/default-vendor.ts";
import { checkVendor, type Vendor } from "../vendors/define-vendor.ts";
import { createWebMiddleware } from "./web-middleware.ts";

/** Options of {@link simulate}. */
export interface SimulateOptions {
  /** Identifier of the delivery. Default: a random UUID. */
  readonly id?: string | undefined;
  /** Seconds since 1970. Default: now. */
  readonly timestamp?: number | undefined;
  /** Where the receiver is. Default: the path of the vendor at `http://localhost`. */
  readonly url?: string | undefined;
}

/** A delivery for {@link signRequest}. */
export interface DeliveryToSign extends SimulateOptions {
  /** The platform that sends. Default: `vendor`. */
  readonly vendor?: Vendor | undefined;
  /** The secret that is shared with the receiver. */
  readonly secret: string;
  /** Name of the event, or of event and action: `issues.opened`. */
  readonly name: string;
  /**
   * The payload. Fields for action, name and identifier are added where the vendor writes them into
   * it and they are missing: `action`, or `type` and `id`. A text is the body as it is.
   */
  readonly payload: object | string;
}

const optionNames: readonly (keyof SimulateOptions)[] = ["id", "timestamp", "url"];

/**
 * Makes the request that a vendor would send, for tests of any receiver.
 *
 * @example
 * ```ts
 * const request = await signRequest({ vendor: stripe, secret, name: "invoice.paid", payload: { data } });
 * expect((await app.fetch(request)).status).toBe(200);
 * ```
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`, `ERR_WEBHOOKS_SECRET`, `ERR_WEBHOOKS_ARGUMENT`
 *   for a payload of another event
 */
export async function signRequest(delivery: DeliveryToSign): Promise<Request> {
  checkOptions("signRequest", delivery, [...optionNames, "vendor", "secret", "name", "payload"]);
  const { vendor = defaultVendor, secret, name, payload, ...options } = delivery;
  checkVendor(vendor);
  const key = vendor.scheme.createKey(secret);
  return makeRequest(vendor, (message) => key.sign(message), { ...options, name, payload });
}

/**
 * Signs an event with the first secret and delivers it as the vendor would, without a server. The
 * receiver is one of these `Webhooks`, or of an inbox. Resolves to the response.
 *
 * @example
 * ```ts
 * const response = await simulate(webhooks, "order.paid", { total: 12 });
 * expect(response.status).toBe(200);
 * ```
 * @throws WebhookUsageError as {@link signRequest}
 */
export async function simulate<Events extends EventMap, Transformed>(
  webhooks: Webhooks<Events, Transformed>,
  name: string,
  payload: object | string,
  options: SimulateOptions = {},
): Promise<Response> {
  checkOptions("simulate", options, optionNames);
  const sign: Sign = (message, request) => Webhooks.signRequest(webhooks, message, request);
  const request = await makeRequest(webhooks.vendor, sign, { ...options, name, payload });
  const { pathname: path, origin } = new URL(request.url);
  // The default may be more than the `maxUnverified` of these webhooks.
  const maxBody = Math.max(1, (await request.clone().arrayBuffer()).byteLength);
  return createWebMiddleware(webhooks, { path, maxBody, url: origin + path })(request);
}

type Sign = (
  message: MessageToSign,
  request: Request,
) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

async function makeRequest<Events extends EventMap>(
  vendor: Vendor<Events>,
  sign: Sign,
  delivery: Omit<DeliveryToSign, "secret" | "vendor">,
): Promise<Request> {
  const { id = crypto.randomUUID(), timestamp = Math.floor(Date.now() / 1000) } = delivery;
  const { name, payload, url = `http://localhost${vendor.path}` } = delivery;
  const { event, action } = splitName(vendor, name);
  const { contentType = "application/json" } = vendor;
  const isForm = bodyKindOf(contentType) === "form";
  const headers = new Headers({ "content-type": contentType });
  if (vendor.eventHeader !== undefined) headers.set(vendor.eventHeader, event);
  if (vendor.deliveryHeader !== undefined) headers.set(vendor.deliveryHeader, id);
  const written = vendor.eventHeader === undefined && !isForm ? { id, type: event } : {};
  let body: string;
  let known: string | undefined;
  if (typeof payload === "string") {
    body = payload;
  } else {
    const fields = { ...written, ...(action !== undefined && { action }), ...payload };
    body = isForm ? encodeForm(fields) : JSON.stringify(fields);
    known = vendor.describe?.(headers, parseBody(body, isForm ? "form" : "json")).name;
  }
  if (known !== undefined && known !== event) {
    const message = `the event of the payload must be "${event}", got "${known}"`;
    throw new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", message);
  }
  const unsigned = new Request(url, { method: "POST", headers });
  const signature = await sign({ id, timestamp, body, url: unsigned.url }, unsigned);
  for (const [header, value] of Object.entries(signature)) headers.set(header, value);
  return new Request(url, { method: "POST", headers, body });
}

/** Splits the name of an event and its action, where the vendor has both. */
function splitName<Events extends EventMap>(
  { eventNames }: Vendor<Events>,
  name: string,
): { readonly event: string; readonly action?: string } {
  const dot = name.indexOf(".");
  const event = name.slice(0, dot);
  if (dot < 0 || !eventNames.includes(event)) return { event: name };
  return { event, action: name.slice(dot + 1) };
}

function encodeForm(fields: object): string {
  const texts = Object.entries(fields).map(([name, value]) => [name, String(value)]);
  return new URLSearchParams(texts).toString();
}
