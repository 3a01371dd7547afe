export { createNodeMiddleware } from "../adapters/node-middleware.ts";
export { createWebMiddleware } from "../adapters/web-middleware.ts";
export { WebhookError } from "../errors.ts";
export {
  type EmitterWebhookEvent,
  type EmitterWebhookEventName,
  emitterEventNames,
  validateEventName,
} from "./events.ts";
export { createEventHandler, type GithubWebhooksOptions, Webhooks } from "./webhooks.ts";
