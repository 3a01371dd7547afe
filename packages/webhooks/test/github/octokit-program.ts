// A program as users of @octokit/webhooks 14 write it. Only this import was changed.
import {
  createEventHandler,
  createNodeMiddleware,
  createWebMiddleware,
  type EmitterWebhookEvent,
  type EmitterWebhookEventName,
  emitterEventNames,
  validateEventName,
  type WebhookError,
  Webhooks,
} from "@fetchwork/webhooks/github";
import { createServer, type Server } from "node:http";

/** What the program did, in order. */
export const journal: string[] = [];

function greet({ id, payload }: EmitterWebhookEvent<"issues.opened">): void {
  journal.push(`${id} opened ${payload.issue.number}: ${payload.issue.title}`);
}

async function count(event: EmitterWebhookEvent): Promise<void> {
  await Promise.resolve();
  if (event.name === "push") journal.push(`pushed to ${event.payload.ref}`);
  else journal.push(`any ${event.name}`);
}

function report(error: Error): void {
  journal.push(`failed: ${error.message.split("] ").at(-1)}`);
}

function subscribe(webhooks: Webhooks): void {
  webhooks.on("issues.opened", greet);
  webhooks.on(["issues", "pull_request"], ({ name, payload }) => {
    journal.push(`${name} ${payload.action} in ${payload.repository.full_name}`);
  });
  webhooks.on("issues.labeled", ({ payload }) => {
    if (payload.issue.state === "open") throw new Error("no labels, please");
  });
  webhooks.onAny(count);
  webhooks.onError((error) => {
    journal.push(`error of ${error.event.name} ${error.event.id}`);
    const first: WebhookError | undefined = error.errors[0];
    report(first ?? error);
  });
}

export function startServer(secret: string): { server: Server; webhooks: Webhooks } {
  const webhooks = new Webhooks({ secret, additionalSecrets: ["the old one"] });
  subscribe(webhooks);
  const middleware = createNodeMiddleware(webhooks, { path: "/api/github/webhooks" });
  const server = createServer((request, response) => {
    void middleware(request, response).then((isHandled) => {
      if (!isHandled) response.writeHead(418).end();
    });
  });
  return { server, webhooks };
}

export function fetchHandler(secret: string): (request: Request) => Promise<Response> {
  const webhooks = new Webhooks({
    secret,
    transform: (event) => Object.assign(event, { receivedBy: "worker" }),
    log: { ...console, warn: (message: string) => journal.push(message) },
  });
  webhooks.on("push", ({ receivedBy, payload }) => {
    journal.push(`${receivedBy}: ${payload.commits.length} commits`);
  });
  return createWebMiddleware(webhooks);
}

export async function replayPush(event: EmitterWebhookEvent<"push">): Promise<void> {
  const { on, removeListener, receive } = createEventHandler({});
  const forgotten = (): void => {
    journal.push("never");
  };
  const remembered = ({ payload }: EmitterWebhookEvent<"push">): void => {
    journal.push(`replayed ${payload.after}`);
  };
  on("push", forgotten);
  on("push", remembered);
  removeListener("push", forgotten);
  await receive(event);
}

export function toEventName(name: string): EmitterWebhookEventName {
  validateEventName(name, { onUnknownEventName: "throw" });
  return name;
}

export const events: readonly EmitterWebhookEventName[] = emitterEventNames.filter(
  (name) => !name.includes("."),
);
