import { empty, json } from "@fetchwork/http";
import {
  badFields,
  fieldError,
  jsonTag,
  notFound,
  requirePreconditions,
  taggedJson,
  type Call,
  type OutputOf,
} from "@fetchwork/rest";
import { WebhookUsageError } from "@fetchwork/webhooks";
import type { StoredDelivery, Endpoint, Sender } from "@fetchwork/webhooks/sender";
import type { newWebhook, webhookChange } from "./model.ts";

/** What the routes of endpoints do. */
export interface WebhookController {
  readonly list: () => Promise<Response>;
  readonly show: (call: Call) => Promise<Response>;
  readonly create: (call: Call<OutputOf<typeof newWebhook>>) => Promise<Response>;
  readonly update: (call: Call<OutputOf<typeof webhookChange>>) => Promise<Response>;
  readonly remove: (call: Call) => Promise<Response>;
  readonly deliveries: (call: Call) => Promise<Response>;
  readonly replay: (call: Call) => Promise<Response>;
}

/** Lets admins manage who hears of changes. */
export function createWebhookController(sender: Sender): WebhookController {
  const { endpoints } = sender;
  return {
    async list() {
      return json(await endpoints.list());
    },
    async show({ params, request }) {
      return taggedJson(request, found(await endpoints.get(idOf(params))));
    },
    async create({ body }) {
      const created = await refuseBadTargets(endpoints.create(body));
      const { secret: _, ...shown } = created;
      const headers = { etag: jsonTag(shown), location: `/webhooks/${created.id}` };
      return json(created, { status: 201, headers });
    },
    async update({ body, params, request }) {
      const { status, ...fields } = body;
      const id = idOf(params);
      requirePreconditions(request, jsonTag(found(await endpoints.get(id))));
      let endpoint = found(await refuseBadTargets(endpoints.update(id, fields)));
      if (status !== undefined && status !== endpoint.status) {
        endpoint = found(await endpoints[status === "enabled" ? "enable" : "disable"](id));
      }
      return taggedJson(request, endpoint);
    },
    async remove({ params, request }) {
      requirePreconditions(request, jsonTag(found(await endpoints.get(idOf(params)))));
      if (!(await endpoints.remove(idOf(params)))) throw notFound();
      return empty();
    },
    async deliveries({ params, query }) {
      const endpointId = found(await endpoints.get(idOf(params))).id;
      const status = statusOf(query.get("status"));
      return json(await sender.deliveries({ endpointId, status }));
    },
    async replay({ params }) {
      const id = params["delivery"] ?? "";
      const [delivery] = await sender.deliveries({ id, endpointId: idOf(params) });
      if (!delivery || !(await sender.replay(id))) throw notFound();
      return empty(202);
    },
  };
}

function idOf(params: Call["params"]): string {
  return params["id"] ?? "";
}

function found(endpoint: Endpoint | undefined): Endpoint {
  if (!endpoint) throw notFound();
  return endpoint;
}

function statusOf(given: string | null): StoredDelivery["status"] | undefined {
  if (given === null || given === "pending" || given === "delivered" || given === "dead") {
    return given ?? undefined;
  }
  throw badFields([fieldError("status", "enum", "status is pending, delivered or dead")]);
}

/** What the sender refuses is the caller's mistake here. */
async function refuseBadTargets<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof WebhookUsageError)) throw error;
    const fields: Readonly<Record<string, string>> = {
      ERR_WEBHOOKS_TARGET: "url",
      ERR_WEBHOOKS_SECRET: "secret",
    };
    throw badFields([fieldError(fields[error.code] ?? "events", "invalid", error.message)]);
  }
}
