import { json } from "@fetchwork/http";
import {
  adminViewer,
  createResourceController,
  defineResource,
  Problem,
  resourceRoutes,
} from "@fetchwork/rest";
import { notFound } from "@fetchwork/rest/handlers";
import { expect } from "vitest";
import { z } from "zod";
import { article, articleOptions, product, productOptions, routeOf, twins } from "./other-hand.ts";
import { allOf, type Seeded, serviceOf } from "./seeded.ts";

const member = {
  name: "member",
  path: "/members",
  schema: z.object({ nickname: z.string(), phone: z.string() }),
  owner: "person",
  access: { list: "public", show: "public", create: "user", update: "owner" },
} as const;
const ticket = defineResource({
  name: "ticket",
  path: "/tickets",
  schema: z.object({ subject: z.string(), priority: z.string().default("low") }),
  owner: "customer",
  access: { list: "owner", show: "owner", create: "user", update: "owner" },
  fields: { priority: "admin" },
});

/** Faults of what callers see. */
export const viewFaults: readonly Seeded[] = [
  {
    name: "rules of fields in which a field of the schema is forgotten",
    opened: "member.phone anonymous",
    ...twins((isRepaired) => {
      const times = { createdAt: { read: "owner" }, updatedAt: { read: "owner" } } as const;
      const fields = { ...times, ...(isRepaired ? { phone: "owner" as const } : {}) } as const;
      return serviceOf(resourceRoutes(defineResource({ ...member, fields })));
    }),
  },
  {
    name: "a rule of a field that is lost where options are spread",
    opened: "product.cost anonymous",
    ...twins((isRepaired) => {
      const fields = {
        ...(isRepaired ? productOptions.fields : {}),
        price: { write: "owner" },
      } as const;
      return serviceOf(resourceRoutes(defineResource({ ...productOptions, fields })));
    }),
  },
  {
    name: "a list for everyone that shows documents as admins see them",
    expected: { code: "field-read", resource: "product", field: "cost", way: "listOffers" },
    ...twins((isRepaired) =>
      serviceOf(
        resourceRoutes(product),
        routeOf({ path: "/offers", operation: "listOffers", access: "public" }, async (call) => {
          const viewer = isRepaired ? (call as never) : adminViewer;
          return json((await allOf(call, product)).map((one) => product.present(one, viewer)));
        }),
      ),
    ),
  },
  {
    name: "a change of one's own that responds with what is stored",
    expected: { code: "field-read", resource: "ticket", field: "priority", caller: "owner" },
    ...twins((isRepaired) =>
      serviceOf(
        resourceRoutes(ticket, {
          ...createResourceController(ticket),
          patch: async (call) => {
            const { subject } = z
              .object({ subject: z.string().optional().catch(undefined) })
              .parse(call.body);
            const all = call.store.collection(ticket.collection);
            const changed = await all.update(call.params["id"] ?? "", subject ? { subject } : {});
            if (!changed) throw notFound();
            return json(isRepaired ? ticket.present(changed, call) : changed);
          },
        }),
      ),
    ),
  },
  {
    name: "a computed field that has a hidden value in capitals",
    expected: { code: "field-read", resource: "article", field: "notes", caller: "anonymous" },
    ...twins((isRepaired) => {
      const value = ({ notes, title }: { readonly notes: string; readonly title: string }) =>
        (isRepaired ? title : notes).toUpperCase();
      const computed = { headline: { schema: z.string(), value } };
      return serviceOf(resourceRoutes(defineResource({ ...articleOptions, computed })));
    }),
  },
  {
    name: "a feed of changes that has the documents as they are stored",
    expected: { code: "field-read", resource: "article", field: "notes", way: "listNews" },
    ...twins((isRepaired) =>
      serviceOf(
        resourceRoutes(defineResource({ ...articleOptions, changes: "documents" })),
        routeOf({ path: "/news", operation: "listNews", access: "public" }, async ({ store }) => {
          const news: unknown[] = [];
          const collections = [article.collection.name];
          for await (const change of store.changes({ atEnd: "end", collections }))
            news.push(isRepaired ? { id: change.id, kind: change.kind } : change);
          return json(news);
        }),
      ),
    ),
  },
  {
    name: "an export that has a column for each field",
    expected: { code: "field-read", resource: "product", field: "cost", way: "exportProducts" },
    ...twins((isRepaired) => {
      const columns = isRepaired ? ["name", "price"] : ["name", "price", "cost"];
      return serviceOf(
        resourceRoutes(product),
        routeOf({ path: "/products.csv", operation: "exportProducts" }, async (call) => {
          const rows: readonly object[] = await allOf(call, product);
          const lines = rows.map((row) => columns.map((one) => Reflect.get(row, one)).join(";"));
          const headers = { "Content-Type": "text/csv" };
          return new Response([columns.join(";"), ...lines].join("\r\n"), { headers });
        }),
      );
    }),
  },
  {
    name: "a header that has a hidden value",
    expected: { code: "field-read", resource: "article", field: "notes", way: "printArticle" },
    ...twins((isRepaired) =>
      serviceOf(
        resourceRoutes(article),
        routeOf(
          { path: "/articles/:id/print", operation: "printArticle", access: "public" },
          async ({ params, store }) => {
            const found = await store.collection(article.collection).get(params["id"] ?? "");
            if (!found) throw notFound();
            const { content, notes, title } = found;
            const headers = { "X-Description": encodeURIComponent(isRepaired ? title : notes) };
            return new Response(content, { headers });
          },
        ),
      ),
    ),
  },
];

const post = {
  name: "post",
  path: "/posts",
  schema: z.object({ text: z.string() }),
  owner: "author",
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
} as const;

interface Asked {
  readonly call: {
    readonly request: Request;
    readonly user: { readonly role: string } | undefined;
  };
}

function refuse({ call }: Asked): void {
  if (call.user?.role !== "admin") throw new Problem(403, { detail: "under review" });
}

/** Faults of hooks. */
export const hookFaults: readonly Seeded[] = [
  {
    name: "a hook that hides documents, and none for those that are restored",
    expected: {
      code: "hook-gap",
      resource: "post",
      caller: "owner",
      way: "restore",
      fix: expect.stringContaining("beforeRestore") as string,
    },
    ...twins((isRepaired) => {
      const hooks = {
        beforeList: refuse,
        beforeShow: refuse,
        beforeUpdate: refuse,
        beforeRemove: refuse,
        ...(isRepaired ? { beforeRestore: refuse } : {}),
      };
      const access = { ...post.access, restore: "owner" } as const;
      return serviceOf(
        resourceRoutes(defineResource({ ...post, access, softDelete: true, hooks })),
      );
    }),
  },
  {
    name: "a hook that refuses PATCH, and not PUT",
    expected: { code: "hook-gap", resource: "post", caller: "owner", way: "update" },
    ...twins((isRepaired) => {
      const beforeUpdate = (event: Asked) => {
        if (isRepaired || event.call.request.method === "PATCH") refuse(event);
      };
      return serviceOf(resourceRoutes(defineResource({ ...post, hooks: { beforeUpdate } })));
    }),
  },
];
