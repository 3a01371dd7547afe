import { empty, json } from "@fetchwork/http";
import {
  defineResource,
  defineRoute,
  type Fields,
  Problem,
  resourceRoutes,
  type Route,
} from "@fetchwork/rest";
import { notFound, requireOwner } from "@fetchwork/rest/handlers";
import { z } from "zod";
import { type Handle, twins } from "./other-hand.ts";
import { about, type Seeded, serviceOf, user } from "./seeded.ts";

const event = defineResource({
  name: "event",
  path: "/events",
  schema: z.object({ name: z.string(), isClosed: z.boolean() }),
  owner: "host",
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
});
const order = defineResource({
  name: "order",
  path: "/orders",
  schema: z.object({
    event: z.string(),
    note: z.string(),
    seats: z.int(),
    state: z.enum(["open", "paid", "cancelled"]).default("open"),
    isInside: z.boolean().optional(),
  }),
  fields: { state: { write: "nobody" }, isInside: "nobody" },
  owner: "buyer",
  access: { list: "owner", show: "owner", create: "user", update: "admin" },
  relations: { event: { to: () => event } },
  hooks: { beforeCreate: ({ fields }) => ({ ...fields, isInside: false }) },
});
/** What users are told, which only the program creates. */
const notice = defineResource({
  name: "notice",
  path: "/notices",
  schema: z.object({ text: z.string() }),
  owner: "reader",
  access: { list: "owner", show: "owner", create: "admin" },
});
/** Everybody sees reviews that are announced; only their authors see drafts. */
const review = defineResource({
  name: "review",
  path: "/reviews",
  schema: z.object({ text: z.string(), state: z.enum(["draft", "announced"]) }),
  owner: "author",
  access: {
    list: "public",
    show: ({ caller, document }) =>
      document?.["state"] === "announced" ||
      caller?.role === "admin" ||
      (caller !== undefined && document?.["author"] === caller.id),
    create: "user",
    update: "owner",
  },
  hooks: {
    beforeList: ({ call }) => (call.user?.role === "admin" ? undefined : { state: "announced" }),
  },
});

/** Faults of a shop that sells tickets. */
export const ticketFaults: readonly Seeded[] = [
  {
    name: "a refund of paid orders that was opened to every user",
    expected: { code: "document-written", resource: "order", caller: "user", way: "act" },
    ...ofRoute("/orders/:id/refund", async (call, isRepaired) => {
      const found = await orderOf(call);
      if (isRepaired) requireOwner(call.user as never, found.buyer);
      if (found.state !== "paid") throw new Problem(409);
      await call.store.collection(order.collection).update(found.id, { state: "cancelled" });
      return empty();
    }),
  },
  {
    name: "a receipt of paid orders for every user",
    expected: { code: "field-read", resource: "order", field: "note", caller: "user" },
    ...ofRoute("GET /orders/:id/receipt", async (call, isRepaired) => {
      const found = await orderOf(call);
      if (isRepaired) requireOwner(call.user as never, found.buyer);
      if (found.state !== "paid") throw new Problem(409);
      return json({ note: found.note });
    }),
  },
  {
    name: "a purchase for the person in the body",
    expected: { code: "field-written", resource: "order", field: "buyer", caller: "user" },
    ...ofRoute(
      "/purchases",
      async ({ body, store, user: caller }, isRepaired) => {
        const person = isRepaired ? undefined : (body["person"] as string | undefined);
        const fields = { event: String(body["event"]), note: "", seats: 1, state: "open" } as const;
        const buyer = person ?? caller?.id ?? "";
        await store.collection(order.collection).insert({ ...fields, buyer });
        return empty();
      },
      z.object({ event: z.string(), person: z.string().optional() }),
    ),
  },
  {
    name: "a purchase for a person who has to be a user",
    expected: { code: "field-written", resource: "order", field: "buyer", caller: "user" },
    ...ofRoute(
      "/purchases",
      async ({ body, store, user: caller }, isRepaired) => {
        const guest = await store.collection(user.collection).get(String(body["guest"]));
        if (!guest) throw notFound();
        const fields = { event: String(body["event"]), note: "", seats: 1, state: "open" } as const;
        const buyer = isRepaired ? (caller?.id ?? "") : guest.id;
        await store.collection(order.collection).insert({ ...fields, buyer });
        // A notice belongs to the one who reads it.
        await store.collection(notice.collection).insert({ text: "invited", reader: guest.id });
        return empty();
      },
      z.object({ event: z.string(), guest: z.string() }),
    ),
  },
  {
    name: "a change of open events that asks nothing",
    expected: { code: "document-written", resource: "event", caller: "user", way: "act" },
    ...ofRoute("/events/:id/closing", async (call, isRepaired) => {
      const found = await eventOf(call, "id");
      if (isRepaired) requireOwner(call.user as never, found.host);
      if (found.isClosed) throw new Problem(409);
      await call.store.collection(event.collection).update(found.id, { isClosed: true });
      return empty();
    }),
  },
  {
    name: "a route that cancels all orders of an event",
    expected: { code: "document-written", resource: "order", caller: "user", way: "act" },
    ...ofRoute(
      "/cancellations",
      async ({ body, store, user: caller }, isRepaired) => {
        const id = String(body["eventId"]);
        const found = await store.collection(event.collection).get(id);
        if (!found) throw notFound();
        if (isRepaired) requireOwner(caller as never, found.host);
        const where = { event: id };
        await store
          .collection(order.collection)
          .updateMany({ where, change: { state: "cancelled" } });
        return empty();
      },
      z.object({ eventId: z.string() }),
    ),
  },
  {
    name: "a route that takes a list of identifiers",
    expected: { code: "document-written", resource: "order", caller: "user", way: "act" },
    ...ofRoute(
      "/orders/archive",
      async ({ body, store, user: caller }, isRepaired) => {
        const orders = store.collection(order.collection);
        for (const id of body["ids"] as readonly string[]) {
          const found = await orders.get(id);
          if (!found || (isRepaired && found.buyer !== caller?.id)) throw notFound();
          await orders.update(id, { note: "archived" });
        }
        return empty();
      },
      z.object({ ids: z.array(z.string()) }),
    ),
  },
  {
    name: "a list of identifiers of which the first is checked",
    expected: { code: "document-written", resource: "order", caller: "user", way: "act" },
    ...ofRoute(
      "/archive",
      async ({ body, store, user: caller }, isRepaired) => {
        const orders = store.collection(order.collection);
        const ids = body["orderIds"] as readonly string[];
        for (const [index, id] of ids.entries()) {
          const found = await orders.get(id);
          if (!found) throw notFound();
          if (index === 0 || isRepaired) requireOwner(caller as never, found.buyer);
        }
        for (const id of ids) await orders.update(id, { note: "archived" });
        return empty();
      },
      z.object({ orderIds: z.array(z.string()).min(1) }),
    ),
  },
  {
    name: "an export of the orders of everybody",
    expected: { code: "field-read", resource: "order", field: "note", caller: "user" },
    ...ofRoute("GET /order-export", async ({ store, user: caller }, isRepaired) => {
      const where = isRepaired ? { buyer: caller?.id ?? "" } : {};
      const found = await store.collection(order.collection).find({ where });
      const lines = found.map(({ note, seats }) => `${note};${seats}`);
      return new Response(lines.join("\n"), { headers: { "content-type": "text/csv" } });
    }),
  },
  {
    name: "an export of the orders of an event that a parameter names",
    expected: { code: "field-read", resource: "order", field: "note", caller: "user" },
    ...ofRoute("GET /exports?event", async ({ query, store, user: caller }, isRepaired) => {
      const found = await store.collection(event.collection).get(query.get("event") ?? "");
      if (!found) throw new Problem(400);
      if (isRepaired) requireOwner(caller as never, found.host);
      const orders = await store.collection(order.collection).find({ where: { event: found.id } });
      return json(orders.map(({ note }) => note));
    }),
  },
  {
    name: "a search in the orders of everybody",
    expected: { code: "field-inferred", resource: "order", field: "note", caller: "user" },
    ...ofRoute("GET /order-search?text", async ({ query, store, user: caller }, isRepaired) => {
      const own = isRepaired ? { buyer: caller?.id ?? "" } : {};
      const where = { ...own, note: { prefix: query.get("text") ?? "" } };
      const found = await store.collection(order.collection).find({ where });
      return json({ count: found.length });
    }),
  },
  {
    name: "a transfer to another user that does not ask who owns the order",
    expected: { code: "document-written", resource: "order", caller: "user", way: "act" },
    ...ofRoute(
      "/orders/:id/transfer",
      async (call, isRepaired) => {
        const found = await orderOf(call);
        if (isRepaired) requireOwner(call.user as never, found.buyer);
        const to = String(call.body["to"]);
        if (!(await call.store.collection(user.collection).get(to))) throw new Problem(400);
        await call.store.collection(order.collection).update(found.id, { buyer: to });
        return empty();
      },
      z.object({ to: z.string().max(64) }),
    ),
  },
  {
    name: "a receiver of payments that trusts the identifier in the body",
    expected: { code: "document-written", resource: "order", caller: "anonymous", way: "act" },
    ...ofRoute(
      "public /payments",
      async ({ body, request, store }, isRepaired) => {
        if (isRepaired && request.headers.get("x-signature") !== "right") throw new Problem(403);
        const { order: id } = body["data"] as Record<string, string>;
        const changed = await store
          .collection(order.collection)
          .update(id ?? "", { state: "paid" });
        if (!changed) throw notFound();
        return empty();
      },
      z.object({ type: z.string(), data: z.object({ order: z.string() }) }),
    ),
  },
  {
    name: "a route that toggles a hidden field",
    expected: { code: "document-written", resource: "order", caller: "user", way: "act" },
    ...ofRoute("/orders/:id/entry", async (call, isRepaired) => {
      const found = await orderOf(call);
      const { host } = await eventOf({ ...call, params: { event: found.event } }, "event");
      if (isRepaired) requireOwner(call.user as never, host);
      const isInside = !found.isInside;
      await call.store.collection(order.collection).update(found.id, { isInside });
      return empty();
    }),
  },
  {
    name: "a list of guests below the event of somebody else",
    expected: { code: "field-read", resource: "order", caller: "user", way: "act" },
    ...ofRoute("GET /events/:event/guests", async (call, isRepaired) => {
      const found = await eventOf(call, "event");
      if (isRepaired) requireOwner(call.user as never, found.host);
      const where = { event: found.id };
      const orders = await call.store.collection(order.collection).find({ where });
      return json(orders.map(({ note }) => note));
    }),
  },
  {
    name: "a page of announced reviews that has drafts",
    expected: { code: "field-read", resource: "review", field: "text", caller: "user" },
    ...ofRoute("GET /latest-reviews", async ({ store }, isRepaired) => {
      const where = isRepaired ? { state: "announced" as const } : {};
      const found = await store.collection(review.collection).find({ where });
      return json(found.map(({ text }) => text));
    }),
  },
];

type Call = Parameters<Handle>[0] & { readonly body: Fields };

/** The shop with one route, as `METHOD /path?parameter` for users. Default: POST. */
function ofRoute(
  place: string,
  handle: (call: Call, isRepaired: boolean) => Promise<Response>,
  body?: z.ZodObject,
): Pick<Seeded, "faulty" | "repaired"> {
  const [path = "", parameter] = (place.split(" ").at(-1) ?? "").split("?");
  const isMade = (isRepaired: boolean): Route =>
    defineRoute({
      ...about,
      method: place.startsWith("GET ") ? "GET" : "POST",
      path,
      operation: "act",
      access: place.startsWith("public ") ? "public" : "user",
      body: body as undefined,
      query: parameter
        ? [{ name: parameter, description: "What is asked for", schema: { type: "string" } }]
        : [],
      responses: Object.fromEntries(
        [200, 204, 400, 403, 404, 409, 422].map((one) => [one, { description: "A response" }]),
      ),
      handle: (call) => handle(call as Call, isRepaired),
    });
  const resources = [event, order, notice, review].map((one) => resourceRoutes(one as never));
  return twins((isRepaired) => serviceOf(...resources, isMade(isRepaired)));
}

async function orderOf({ params, store }: Pick<Call, "params" | "store">) {
  const found = await store.collection(order.collection).get(params["id"] ?? "");
  if (!found) throw notFound();
  return found;
}

async function eventOf({ params, store }: Pick<Call, "params" | "store">, name: string) {
  const found = await store.collection(event.collection).get(params[name] ?? "");
  if (!found) throw notFound();
  return found;
}
