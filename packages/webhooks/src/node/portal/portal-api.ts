import { empty, json } from "@fetchwork/http";
import { BodyTooLargeError, isObject, readBody } from "@fetchwork/kit";
import { checkOptions } from "../../check-options.ts";
import type { Sender, StoredDelivery } from "../sender/create-sender.ts";
import type { EndpointInput, WebhookEndpoint } from "../sender/endpoints/endpoints.ts";
import { apiHeaders, Problem } from "./problem.ts";

/** A request to the API of the portal. */
interface ApiRequest {
  readonly sender: Sender;
  /** Tenant of the request. */
  readonly tenant: string;
  readonly maxEndpoints: number;
  readonly request: Request;
  /** Segments of the path below that of the API. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

type Fields = Readonly<Record<string, unknown>>;
type Operation = (request: ApiRequest, body: Fields) => Promise<Response> | Response;

const maxBody = 65_536;
const bodyTimeout = 10_000;
const statuses = ["pending", "delivered", "dead"] as const;

const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["GET event-types", listEventTypes],
  ["GET endpoints", listEndpoints],
  ["POST endpoints", createEndpoint],
  ["GET endpoints/:id", async (request) => ok(await endpointOf(request))],
  ["PATCH endpoints/:id", changeEndpoint],
  ["DELETE endpoints/:id", removeEndpoint],
  ["POST endpoints/:id/rotate-secret", rotateSecret],
  ["POST endpoints/:id/test", sendTest],
  ["GET endpoints/:id/deliveries", listDeliveries],
  ["POST endpoints/:id/deliveries/:id/replay", replay],
]);

/**
 * Responds to a request of a tenant.
 *
 * @throws Problem
 * @throws WebhookUsageError When a field is invalid.
 */
export async function callPortalApi(call: ApiRequest): Promise<Response> {
  const { request, segments } = call;
  // Names and identifiers take turns.
  const path = segments.map((segment, index) => (index % 2 === 1 ? ":id" : segment)).join("/");
  const method = request.method === "HEAD" ? "GET" : request.method;
  const operation = operations.get(`${method} ${path}`);
  if (operation !== undefined)
    return operation(call, method === "GET" ? {} : await bodyOf(request));
  const allowed = [...operations.keys()].filter((key) => key.endsWith(` ${path}`));
  if (allowed.length === 0) throw new Problem(404, "there is no such resource");
  const allow = allowed.map((key) => key.slice(0, key.indexOf(" "))).join(", ");
  throw new Problem(405, `expected ${allow}`, { headers: { allow } });
}

function listEventTypes({ sender }: ApiRequest): Response {
  const types = sender.eventTypes;
  const eventTypes =
    types &&
    Object.entries(types).map(([name, { description, example }]) => ({
      name,
      description,
      example,
    }));
  return ok({ eventTypes: eventTypes ?? null });
}

async function listEndpoints({ sender, tenant, query }: ApiRequest): Promise<Response> {
  const [endpoints, total] = await Promise.all([
    sender.endpoints.list({ tenant, ...placeOf(query) }),
    sender.endpoints.count({ tenant }),
  ]);
  return ok({ endpoints, total });
}

async function createEndpoint(
  { sender, tenant, maxEndpoints }: ApiRequest,
  body: Fields,
): Promise<Response> {
  checkOptions("an endpoint", body, ["url", "events", "headers", "description"]);
  if ((await sender.endpoints.count({ tenant })) >= maxEndpoints) {
    throw new Problem(409, `there are ${maxEndpoints} endpoints already`);
  }
  // The sender checks each field.
  return ok(await sender.endpoints.create({ ...body, tenant } as unknown as EndpointInput), 201);
}

async function changeEndpoint(call: ApiRequest, body: Fields): Promise<Response> {
  checkOptions("an endpoint", body, ["url", "events", "headers", "description", "status"]);
  const { id } = await endpointOf(call);
  return ok(found(await call.sender.endpoints.update(id, body)));
}

async function removeEndpoint(call: ApiRequest): Promise<Response> {
  const { id } = await endpointOf(call);
  await call.sender.endpoints.remove(id);
  return empty(204, { headers: apiHeaders });
}

async function rotateSecret(call: ApiRequest, body: Fields): Promise<Response> {
  checkOptions("rotate-secret", body, ["overlap"]);
  const { id } = await endpointOf(call);
  return ok(found(await call.sender.endpoints.rotateSecret(id, body)));
}

async function sendTest(call: ApiRequest, body: Fields): Promise<Response> {
  checkOptions("test", body, ["eventType"]);
  const { id, status } = await endpointOf(call);
  if (status === "disabled") throw new Problem(409, "the endpoint is disabled");
  const { eventType } = body;
  if (typeof eventType !== "string") throw new Problem(422, "eventType is missing");
  return ok(shown(found(await call.sender.sendTest(id, eventType))), 202);
}

async function listDeliveries(call: ApiRequest): Promise<Response> {
  const { id: endpointId } = await endpointOf(call);
  const wanted = call.query.get("status");
  const status = statuses.find((each) => each === wanted);
  if (wanted !== null && status === undefined) {
    throw new Problem(422, `status must be one of ${statuses.join(", ")}`);
  }
  const query = { endpointId, status, ...placeOf(call.query) };
  return ok({ deliveries: (await call.sender.deliveries(query)).map(shown) });
}

async function replay(call: ApiRequest): Promise<Response> {
  const { id: endpointId } = await endpointOf(call);
  const id = idAt(call, 3);
  const [delivery] = await call.sender.deliveries({ id, endpointId, limit: 1 });
  await call.sender.replay(found(delivery).id);
  return empty(204, { headers: apiHeaders });
}

/** The endpoint of the path, when it belongs to the tenant. */
async function endpointOf(call: ApiRequest): Promise<WebhookEndpoint> {
  const endpoint = await call.sender.endpoints.get(idAt(call, 1));
  return found(endpoint?.tenant === call.tenant ? endpoint : undefined);
}

function idAt({ segments }: ApiRequest, place: number): string {
  const id = segments[place] ?? "";
  return found(/^[\w-]{1,64}$/.test(id) ? id : undefined);
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Problem(404, "there is no such resource");
  return value;
}

/** A delivery without what only the sender uses. */
function shown({ id, eventId, eventName, status, createdAt, ...rest }: StoredDelivery): object {
  const { dueAt, attempts, history, deadReason, settledAt } = rest;
  const more = { dueAt, attempts, history, deadReason, settledAt };
  return { id, eventId, eventName, status, createdAt, ...more };
}

function placeOf(query: URLSearchParams): { readonly limit: number; readonly offset: number } {
  return {
    limit: numberOf(query, "limit", [20, 1, 100]),
    offset: numberOf(query, "offset", [0, 0, 1e6]),
  };
}

function numberOf(
  query: URLSearchParams,
  name: string,
  [otherwise, minimum, maximum]: readonly [number, number, number],
): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,7}$/.test(text) ? Number(text) : -1;
  if (value >= minimum && value <= maximum) return value;
  throw new Problem(422, `${name} must be an integer from ${minimum} to ${maximum}`);
}

async function bodyOf({ body, headers }: Request): Promise<Fields> {
  const signal = AbortSignal.timeout(bodyTimeout);
  const bytes = await readBody(body, { limit: maxBody, signal }).catch((error: unknown) => {
    if (error instanceof BodyTooLargeError)
      throw new Problem(413, `expected at most ${maxBody} bytes`);
    if (signal.aborted) throw new Problem(408, "the body took too long to arrive");
    throw error;
  });
  if (bytes.length === 0) return {};
  if (!/^application\/json\s*(?:;|$)/i.test(headers.get("content-type") ?? "")) {
    throw new Problem(415, "expected application/json");
  }
  const fields = parse(bytes);
  if (isObject(fields)) return fields;
  throw new Problem(400, "expected an object in JSON");
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function ok(value: object, status = 200): Response {
  return json(value, { status, headers: apiHeaders });
}
