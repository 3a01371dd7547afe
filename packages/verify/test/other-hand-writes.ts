import { empty, json } from "@fetchwork/http";
import { createResourceController, defineResource, Problem, resourceRoutes } from "@fetchwork/rest";
import { forbidden, notFound, requireOwner } from "@fetchwork/rest/handlers";
import { z } from "zod";
import { article, diary, type Handle, routeOf, twins } from "./other-hand.ts";
import { allOf, type Seeded, serviceOf } from "./seeded.ts";

const articleRoutes = resourceRoutes(article);
const diaryRoutes = resourceRoutes(diary);

const shop = defineResource({
  name: "shop",
  path: "/shops",
  schema: z.object({ name: z.string() }),
  owner: "keeper",
  access: { list: "public", show: "public", create: "user", update: "owner" },
});
const ware = defineResource({
  name: "ware",
  path: "/wares",
  schema: z.object({ shop: z.string(), name: z.string(), price: z.int() }),
  fields: { shop: { update: "nobody" } },
  owner: "keeper",
  access: {
    list: "public",
    show: "public",
    update: "owner",
    create: async ({ caller, fields, store }) =>
      caller !== undefined &&
      (await store.collection(shop.collection).get(fields.shop))?.keeper === caller.id,
  },
  relations: { shop: { to: () => shop } },
});

/** Faults by which callers get at what belongs to others. */
export const ownershipFaults: readonly Seeded[] = [
  {
    name: "a route that takes the user from a parameter",
    expected: { code: "field-read", resource: "diary", field: "text", way: "listMine" },
    ...twins((isRepaired) =>
      serviceOf(
        diaryRoutes,
        routeOf(
          { path: "/my-diaries", operation: "listMine", query: isRepaired ? [] : ["user"] },
          async ({ query, store, user }) => {
            const author = query.get("user") ?? user?.id ?? "";
            const found = await store.collection(diary.collection).find({ where: { author } });
            return json(found.map(({ id, text }) => ({ id, text })));
          },
        ),
      ),
    ),
  },
  {
    name: "a PATCH of one's own that stores what was sent",
    expected: { code: "field-written", resource: "diary", field: "author", caller: "owner" },
    ...twins((isRepaired) => {
      const standard = createResourceController(diary);
      const patch: typeof standard.patch = async (call) => {
        const all = call.store.collection(diary.collection);
        const changed = await all.update(call.params["id"] ?? "", { ...call.sent });
        if (!changed) throw notFound();
        return json(diary.present(changed, call));
      };
      return serviceOf(resourceRoutes(diary, { ...standard, ...(isRepaired ? {} : { patch }) }));
    }),
  },
  {
    name: "a check that compares the caller with the owner in the body",
    expected: { code: "document-written", resource: "article", caller: "user", way: "retitle" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf(
          { method: "POST", path: "/articles/:id/title", operation: "retitle" },
          async ({ body, params, store, user }) => {
            const all = store.collection(article.collection);
            const found = await all.get(params["id"] ?? "");
            if (!found) throw notFound();
            requireOwner(user as never, isRepaired ? found.author : String(body["author"]));
            await all.update(found.id, { title: "another title" });
            return empty();
          },
        ),
      ),
    ),
  },
  {
    name: "a check of the shop in the path, and none that the ware belongs to it",
    expected: { code: "document-written", resource: "ware", way: "priceWare" },
    ...twins((isRepaired) =>
      serviceOf(
        resourceRoutes(shop),
        resourceRoutes(ware),
        routeOf(
          { method: "PUT", path: "/shops/:shop/wares/:ware/price", operation: "priceWare" },
          async ({ params, store, user }) => {
            const found = await store.collection(shop.collection).get(params["shop"] ?? "");
            if (!found) throw notFound();
            requireOwner(user as never, found.keeper);
            const wares = store.collection(ware.collection);
            const one = await wares.get(params["ware"] ?? "");
            if (!one || (isRepaired && one.shop !== found.id)) throw notFound();
            await wares.update(one.id, { price: 1 });
            return empty();
          },
        ),
      ),
    ),
  },
  {
    name: "an import that takes the author from the body",
    expected: { code: "field-written", resource: "diary", field: "author", way: "importDiary" },
    ...twins((isRepaired) =>
      serviceOf(
        diaryRoutes,
        routeOf(
          { method: "POST", path: "/diary-imports", operation: "importDiary" },
          async ({ body, store, user }) => {
            const { author = user?.id ?? "", text = "imported" } = body;
            const fields = { text: String(text), author: String(isRepaired ? user?.id : author) };
            await store.collection(diary.collection).insert(fields);
            return empty();
          },
        ),
      ),
    ),
  },
];

/** Faults of routes of one's own. */
export const routeFaults: readonly Seeded[] = [
  {
    name: "a search that fails on an invalid regular expression",
    expected: { code: "server-error", way: "matchArticles" },
    ...ofParameter("matchArticles", "pattern", async (call, isRepaired) => {
      const pattern = call.query.get("pattern") ?? "";
      const escaped = pattern.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
      const expression = new RegExp(isRepaired ? escaped : pattern);
      const hits = (await allOf(call, article)).filter(({ title }) =>
        expression.test(String(title)),
      );
      return json({ count: hits.length });
    }),
  },
  {
    name: "a list that fails on a limit that is not a number",
    expected: { code: "server-error", way: "limitArticles" },
    ...ofParameter("limitArticles", "limit", async ({ query, store }, isRepaired) => {
      const limit = Number(query.get("limit") ?? 10);
      const isRight = Number.isInteger(limit) && limit > 0 && limit <= 100;
      if (isRepaired && !isRight) throw new Problem(400);
      const found = await store.collection(article.collection).find({ limit });
      return json({ count: found.length });
    }),
  },
  {
    name: "a route by which each user removes the articles of any other",
    expected: { code: "document-written", resource: "article", caller: "user", way: "dropAll" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf(
          { method: "DELETE", path: "/authors/:author/articles", operation: "dropAll" },
          async ({ params, store, user }) => {
            const author = params["author"] ?? "";
            if (isRepaired && user?.id !== author) throw forbidden();
            await store.collection(article.collection).removeMany({ where: { author } });
            return empty();
          },
        ),
      ),
    ),
  },
];

function ofParameter(
  operation: string,
  name: string,
  handle: (call: Parameters<Handle>[0], isRepaired: boolean) => Promise<Response>,
): Pick<Seeded, "faulty" | "repaired"> {
  const place = { path: "/some-articles", operation, access: "public", query: [name] } as const;
  return twins((isRepaired) =>
    serviceOf(
      articleRoutes,
      routeOf(place, (call) => handle(call, isRepaired)),
    ),
  );
}
