import { defineRoute, type OperationTypes, type Route } from "@fetchwork/rest";
import { listParameters, listResponse } from "@fetchwork/rest/handlers";
import type { Sender, StoredDelivery, WebhookEndpoint } from "@fetchwork/webhooks/sender";
import { createWebhookController } from "./webhook-controller.ts";
import {
  delivery,
  type NewWebhook,
  type WebhookChange,
  newWebhook,
  webhook,
  webhookChange,
  webhookList,
} from "./webhook-model.ts";

const tag = "webhooks";
const access = "admin";
const tagged = { ETag: "Version of the webhook" };
const found = { description: "The webhook", schema: webhook, headers: tagged };
const unchanged = { description: "Not modified", headers: tagged };
const missing = { description: "Webhook not found" };

/** The routes of webhooks, as the typed client knows them. */
export type WebhookRoute = Route<
  | OperationTypes<"listWebhooks", never, undefined, readonly ShownWebhook[]>
  | OperationTypes<"showWebhook", "id", undefined, ShownWebhook>
  | OperationTypes<"createWebhook", never, NewWebhook, ShownWebhook>
  | OperationTypes<"updateWebhook", "id", WebhookChange, ShownWebhook>
  | OperationTypes<"removeWebhook", "id", undefined, undefined>
  | OperationTypes<"listDeliveries", "id", undefined, readonly StoredDelivery[]>
  | OperationTypes<"replayDelivery", "delivery" | "id", undefined, undefined>
>;

/** An endpoint as admins see it; its secret is in the response to its creation only. */
type ShownWebhook = Omit<WebhookEndpoint, "secret" | "version"> & { readonly secret?: string };

/** Makes the routes by which admins subscribe endpoints to changes. */
export function webhookRoutes(sender: Sender): readonly WebhookRoute[] {
  const controller = createWebhookController(sender);
  const routes: readonly Route[] = [
    defineRoute({
      method: "GET",
      path: "/webhooks",
      operation: "listWebhooks",
      summary: "List webhooks",
      tag,
      tagDescription: "Endpoints that receive changes, and their deliveries; for admins",
      access,
      query: listParameters({ list: webhookList }),
      responses: { 200: listResponse(tag, webhook), 304: unchanged },
      handle: controller.list,
    }),
    defineRoute({
      method: "GET",
      path: "/webhooks/:id",
      operation: "showWebhook",
      summary: "Show a webhook",
      tag,
      access,
      conditional: true,
      responses: { 200: found, 304: unchanged, 404: missing },
      handle: controller.show,
    }),
    defineRoute({
      method: "POST",
      path: "/webhooks",
      operation: "createWebhook",
      summary: "Subscribe an endpoint to changes",
      tag,
      access,
      body: newWebhook,
      responses: { 201: { ...found, headers: { ...tagged, Location: "Address of the webhook" } } },
      handle: controller.create,
    }),
    defineRoute({
      method: "PATCH",
      path: "/webhooks/:id",
      operation: "updateWebhook",
      summary: "Change, enable or disable a webhook",
      tag,
      access,
      body: webhookChange,
      conditional: true,
      responses: { 200: found, 404: missing },
      handle: controller.update,
    }),
    defineRoute({
      method: "DELETE",
      path: "/webhooks/:id",
      operation: "removeWebhook",
      summary: "Delete a webhook",
      tag,
      access,
      conditional: true,
      responses: { 204: { description: "Deleted" }, 404: missing },
      handle: controller.remove,
    }),
    defineRoute({
      method: "GET",
      path: "/webhooks/:id/deliveries",
      operation: "listDeliveries",
      summary: "List the last 100 deliveries of a webhook",
      tag,
      access,
      query: [
        {
          name: "status",
          description: "Only deliveries with this status",
          schema: { enum: ["pending", "delivered", "dead"] },
        },
      ],
      responses: {
        200: { description: "Newest first", schema: { type: "array", items: delivery } },
        404: missing,
      },
      handle: controller.deliveries,
    }),
    defineRoute({
      method: "POST",
      path: "/webhooks/:id/deliveries/:delivery/replays",
      operation: "replayDelivery",
      summary: "Repeat a delivery",
      tag,
      access,
      responses: { 202: { description: "It will be sent again" }, 404: missing },
      handle: controller.replay,
    }),
  ];
  // Their responses are described by JSON Schemas, from which types do not follow.
  return routes as readonly WebhookRoute[];
}
