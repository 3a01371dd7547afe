import type { JsonSchema, ListRules } from "@fetchwork/rest";
import type { Endpoints } from "@fetchwork/webhooks/sender";
import { z } from "zod";

const url = z.url({ protocol: /^https?$/ }).max(2048);
const event = z.string().max(128);
const events = z.array(event).min(1).max(100);
const secret = z.string().min(16).max(256);
const description = z.string().trim().max(500);

type FieldName = "description" | "events" | "secret" | "url";

/** Body with which an admin subscribes an endpoint. */
export type NewWebhook = Pick<Parameters<Endpoints["create"]>[0], FieldName>;

/** Change of an endpoint by an admin; `null` removes a field (JSON Merge Patch, RFC 7396). */
export type WebhookChange = Pick<Parameters<Endpoints["update"]>[1], FieldName | "status">;

const form = z.object({
  url,
  events: events.optional(),
  secret: secret.optional(),
  description: description.optional(),
});

/** Validates {@link NewWebhook}. */
export const newWebhook: z.ZodType<NewWebhook, NewWebhook> = form;

/** Validates {@link WebhookChange}. */
export const webhookChange: z.ZodType<WebhookChange, WebhookChange> = form.partial().extend({
  events: events.nullish(),
  description: description.nullish(),
  status: z.enum(["enabled", "disabled"]).optional(),
});

/** JSON Schema of an object. */
interface ObjectSchema extends JsonSchema {
  readonly type: "object";
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

const time = { type: "string", format: "date-time" };

/** An endpoint, for the reference. */
export const webhook: ObjectSchema = {
  type: "object",
  required: ["id", "url", "status", "createdAt"],
  properties: {
    id: { type: "string" },
    url: { type: "string", format: "uri" },
    tenant: { type: "string", description: "Whose events it gets; of no tenant when absent" },
    events: { type: "array", items: { type: "string" }, description: "All events when absent" },
    description: { type: "string" },
    status: { enum: ["enabled", "disabled"] },
    disabledReason: { enum: ["manual", "gone", "failing"] },
    disabledAt: time,
    failingSince: time,
    createdAt: time,
    secret: { type: "string", description: "Only in the response to its creation" },
  },
};

/** Rules that limit the parameters of the list. */
export const webhookList: ListRules = {
  searchable: false,
  sortable: [],
  defaultSort: [],
  selectable: Object.keys(webhook.properties).filter((name) => name !== "secret"),
  without: ["after", "sort"],
};

/** A delivery, for the reference. */
export const delivery: ObjectSchema = {
  type: "object",
  required: ["id", "eventId", "eventName", "endpointId", "status", "attempts", "createdAt"],
  properties: {
    id: { type: "string" },
    eventId: { type: "string" },
    eventName: { type: "string" },
    endpointId: { type: "string" },
    status: { enum: ["pending", "delivered", "dead"] },
    deadReason: { enum: ["expired", "gone", "disabled", "removed"] },
    dueAt: time,
    expiresAt: time,
    attempts: { type: "integer" },
    history: {
      type: "array",
      items: {
        type: "object",
        properties: {
          at: time,
          duration: { type: "integer", description: "Milliseconds" },
          status: { type: "integer" },
          error: { type: "string" },
          reason: { type: "string", description: "Why it failed, for people" },
          excerpt: { type: "string", description: "The beginning of a response that failed" },
        },
      },
    },
    settledAt: time,
    createdAt: time,
  },
};
