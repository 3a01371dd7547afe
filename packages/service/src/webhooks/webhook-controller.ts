import { VersionError } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import { badFields, fieldError, type Call } from "@fetchwork/rest";
import {
  createListReader,
  etagOf,
  noneMatchHolds,
  notFound,
  pageResponse,
  pageLinks,
  requirePreconditions,
  view,
} from "@fetchwork/rest/handlers";
import { WebhookUsageError } from "@fetchwork/webhooks";
import type { StoredDelivery, WebhookEndpoint, Sender } from "@fetchwork/webhooks/sender";
import { delivery, webhookList, type NewWebhook, type WebhookChange } from "./webhook-model.ts";

const shownOfDelivery = Object.keys(delivery.properties);

/** Handlers of the routes of endpoints. */
export interface WebhookController {
  readonly list: (call: Call) => Promise<Response>;
  readonly show: (call: Call) => Promise<Response>;
  readonly create: (call: Call<NewWebhook>) => Promise<Response>;
  readonly update: (call: Call<WebhookChange>) => Promise<Response>;
  readonly remove: (call: Call) => Promise<Response>;
  readonly deliveries: (call: Call) => Promise<Response>;
  readonly replay: (call: Call) => Promise<Response>;
}

/** Lets admins manage who hears of changes. */
export function createWebhookController(sender: Sender): WebhookController {
  const { endpoints } = sender;
  const readList = createListReader(webhookList);

  /** Changes the version that the request has seen; repeats it when another change came first. */
  async function change<R>(
    { params, request }: Pick<Call, "params" | "request">,
    write: (current: WebhookEndpoint, options: { readonly ifVersion: number }) => Promise<R>,
  ): Promise<R> {
    // It ends: each time the version is another one, somebody else has finished.
    for (;;) {
      const current = found(await endpoints.get(idOf(params)));
      requirePreconditions(request, etagOf(current.version));
      try {
        return await write(current, { ifVersion: current.version });
      } catch (error) {
        if (!(error instanceof VersionError)) throw error;
      }
    }
  }

  return {
    async list({ query, request }) {
      const { fields, limit, page } = readList(query);
      const [some, count] = await Promise.all([
        endpoints.list({ limit, offset: (page - 1) * limit }),
        endpoints.count(),
      ]);
      const link = pageLinks("/webhooks", query, { limit, page, total: count });
      const rows = some.map((endpoint) => shown(endpoint, fields));
      return pageResponse({ request }, { count, isCapped: false, link }, rows);
    },
    async show({ params, request }) {
      const endpoint = found(await endpoints.get(idOf(params)));
      const etag = etagOf(endpoint.version);
      requirePreconditions(request, etag);
      if (noneMatchHolds(request.headers.get("if-none-match"), etag)) {
        return empty(304, { headers: { etag } });
      }
      return json(shown(endpoint), { headers: { etag } });
    },
    async create({ body }) {
      const created = await refuseBadTargets(endpoints.create(body));
      const { id, secret, version } = created;
      const headers = { etag: etagOf(version), location: `/webhooks/${id}` };
      return json({ ...shown(created), secret }, { status: 201, headers });
    },
    async update(call) {
      const { status, ...fields } = call.body;
      const changed = await change(call, (current, options) => {
        // Enabled once more, it would no longer be known since when it has failed.
        const isOther = status !== current.status;
        const all = { ...fields, status: isOther ? status : undefined };
        return refuseBadTargets(endpoints.update(current.id, all, options));
      });
      const endpoint = found(changed);
      return json(shown(endpoint), { headers: { etag: etagOf(endpoint.version) } });
    },
    async remove(call) {
      const isGone = await change(call, ({ id }, options) => endpoints.remove(id, options));
      if (!isGone) throw notFound("webhook");
      return empty();
    },
    async deliveries({ params, query }) {
      const endpointId = found(await endpoints.get(idOf(params))).id;
      const status = statusOf(query.get("status"));
      const stored = await sender.deliveries({ endpointId, status });
      return json(stored.map((one) => view(one, shownOfDelivery)));
    },
    async replay({ params }) {
      const id = params["delivery"] ?? "";
      const [known] = await sender.deliveries({ id, endpointId: idOf(params) });
      if (!known || !(await sender.replay(id))) throw notFound("delivery");
      return empty(202);
    },
  };
}

function idOf(params: Call["params"]): string {
  return params["id"] ?? "";
}

function found(endpoint: WebhookEndpoint | undefined): WebhookEndpoint {
  if (!endpoint) throw notFound("webhook");
  return endpoint;
}

/** Returns the shown fields of a webhook, whose version is its entity tag. */
function shown(endpoint: WebhookEndpoint, fields = webhookList.selectable): object {
  return view(endpoint, fields);
}

function statusOf(given: string | null): StoredDelivery["status"] | undefined {
  if (given === null || given === "pending" || given === "delivered" || given === "dead") {
    return given ?? undefined;
  }
  throw badFields([fieldError("status", "enum", "status is pending, delivered or dead")]);
}

/** Turns a refusal of the sender into a problem, since the mistake is the caller's here. */
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
