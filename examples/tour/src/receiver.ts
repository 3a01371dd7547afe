import { strict as assert } from "node:assert";
import { EventEmitter, once } from "node:events";
import type { Client } from "@fetchwork/http";
import { createWebMiddleware, Webhooks } from "@fetchwork/webhooks";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { apiAt } from "./api.ts";
import { listen } from "./front-door.ts";

/** A receiver of the blog's webhooks. */
export interface Receiver {
  /** What the blog is told to send to. */
  readonly url: string;
  readonly secret: string;
  /**
   * Tries by event (`article.created`, a space, its identifier), in the order in which events first
   * came.
   */
  readonly tries: ReadonlyMap<string, number>;
  /** Waits until a number of events were taken. */
  taken(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a receiver whose first delivery fails once. */
export async function startReceiver(): Promise<Receiver> {
  const secret = `${crypto.randomUUID()}${crypto.randomUUID()}`;
  const webhooks = new Webhooks({ secret, vendor: fetchwork, replay: true, log: silent });
  const tries = new Map<string, number>();
  const done = new Set<string>();
  const changes = new EventEmitter();
  webhooks.onAny(({ id, name, payload }) => {
    const event = `${name}.${String(payload["action"])} ${id}`;
    tries.set(event, (tries.get(event) ?? 0) + 1);
    if (tries.size === 1 && tries.get(event) === 1) throw new Error("not ready yet");
    done.add(event);
    changes.emit("taken");
  });
  const door = await listen();
  door.open(createWebMiddleware(webhooks));
  return {
    url: `${door.origin}${fetchwork.path}`,
    secret,
    tries,
    async taken(count) {
      // The limit of the tour ends this, too.
      while (done.size < count) await once(changes, "taken");
    },
    close: () => door.close(),
  };
}

/**
 * Subscribes a receiver to the changes of articles; an admin may. Returns the path of the
 * subscription.
 */
export async function subscribe(
  client: Client,
  {
    origin,
    token,
    receiver: { url, secret },
  }: { readonly origin: string; readonly token: string; readonly receiver: Receiver },
): Promise<string> {
  const wanted = { url: "/webhooks", method: "POST", data: { url, secret, events: ["article"] } };
  const response = await client.send(apiAt(origin, token)(wanted));
  assert.equal(response.statusCode, 201);
  return response.header("location") ?? "";
}

/** Sends what nobody has signed; it is refused, and no handler sees it. */
export async function forge(client: Client, { url, tries }: Receiver): Promise<void> {
  const before = tries.size;
  const headers = {
    "webhook-event": "article",
    "webhook-id": "forged",
    "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
    "webhook-signature": `v1,${"A".repeat(43)}=`,
  };
  const body = { action: "created", article: {} };
  const answer = await client.send({ method: "POST", baseUrl: url, headers, body });
  assert.deepEqual([answer.statusCode, tries.size], [400, before]);
}

/** Checks what came, and what the blog says of it: one delivery took two tries, the others one. */
export async function compareDeliveries(
  client: Client,
  {
    origin,
    token,
    subscription,
    receiver,
    events,
  }: {
    readonly origin: string;
    readonly token: string;
    readonly subscription: string;
    readonly receiver: Receiver;
    readonly events: readonly string[];
  },
): Promise<void> {
  await receiver.taken(events.length);
  const came = Array.from(receiver.tries.keys(), (event) => event.split(" ")[0] ?? "");
  assert.deepEqual(came.toSorted(), events.toSorted());
  const counts = [...receiver.tries.values()].toSorted((one, other) => one - other);
  assert.deepEqual(counts, [...events.slice(1).map(() => 1), 2]);
  const path = `GET ${subscription}/deliveries`;
  const listed = (await client.send(apiAt(origin, token)(path))).json<
    readonly { readonly history?: readonly { readonly status?: number }[] }[]
  >();
  const histories = listed.map(({ history = [] }) => history.map(({ status }) => status));
  const failed = histories.filter(([first]) => first !== 200);
  assert.deepEqual([histories.length, failed.length, failed[0]?.[0]], [events.length, 1, 500]);
}

const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}
