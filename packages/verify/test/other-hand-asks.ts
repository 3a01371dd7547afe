import { json } from "@fetchwork/http";
import { defineResource, listParameter, Problem, resourceRoutes } from "@fetchwork/rest";
import { notFound } from "@fetchwork/rest/handlers";
import { z } from "zod";
import {
  article,
  articleOptions,
  diary,
  type Handle,
  product,
  routeOf,
  twins,
} from "./other-hand.ts";
import { allOf, type Seeded, serviceOf } from "./seeded.ts";

const articleRoutes = resourceRoutes(article);
const everyone = "public" as const;
const notes = { resource: "article", field: "notes" } as const;

const comment = {
  name: "comment",
  path: "/comments",
  schema: z.object({ article: z.string(), text: z.string() }),
  owner: "writer",
  access: { list: "owner", show: "owner", create: "user", remove: "owner" },
  relations: { article: { to: () => article } },
} as const;
const comments = defineResource(comment);

type Found = readonly Readonly<Record<string, unknown>>[];

/** Finds articles by what a request says, and shows of them what the caller sees. */
async function findBy(call: Parameters<Handle>[0], query: object): Promise<Response> {
  const found = await call.store
    .collection(article.collection)
    .find(query)
    .catch(() => {
      throw new Problem(400, { detail: "not a valid query" });
    });
  return json(found.map((one) => article.present(one as never, call as never)));
}

function jsonOf(text: string | null): Readonly<Record<string, unknown>> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text ?? "{}"));
  } catch {
    throw new Problem(400, { detail: "not JSON" });
  }
}

/** Faults by which filters, orders, searches and joins tell what is hidden. */
export const askFaults: readonly Seeded[] = [
  {
    name: "a route that passes a filter in JSON to the store",
    expected: { code: "field-inferred", ...notes, way: "findArticles" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf(
          {
            path: "/article-search",
            operation: "findArticles",
            access: everyone,
            query: ["where"],
          },
          (call) => {
            const where = jsonOf(call.query.get("where"));
            return findBy(call, { where: isRepaired ? { title: where["title"] ?? "" } : where });
          },
        ),
      ),
    ),
  },
  {
    name: "a QUERY whose body is a filter of the store",
    expected: { code: "field-inferred", ...notes, way: "queryStore" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf(
          {
            method: "QUERY",
            path: "/article-query",
            operation: "queryStore",
            access: everyone,
          },
          (call) => {
            const { where } = call.body as { readonly where?: Readonly<Record<string, unknown>> };
            return findBy(call, { where: isRepaired ? { title: where?.["title"] ?? "" } : where });
          },
        ),
      ),
    ),
  },
  {
    name: "a route that sorts by whatever field it is told",
    expected: { code: "field-inferred", ...notes, way: "sortArticles" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf(
          { path: "/article-index", operation: "sortArticles", access: everyone, query: ["sort"] },
          (call) => {
            const by = call.query.get("sort") ?? "title";
            if (isRepaired && !["title", "-title"].includes(by)) throw new Problem(400);
            return findBy(call, { sort: [by] });
          },
        ),
      ),
    ),
  },
  {
    name: "a search of one's own that reads all fields",
    expected: { code: "field-inferred", ...notes, way: "searchArticles" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf(
          { path: "/search", operation: "searchArticles", access: everyone, query: ["q"] },
          async (call) => {
            const word = call.query.get("q") ?? "";
            const hits = (await allOf(call, article)).filter((one) =>
              [one["title"], ...(isRepaired ? [] : [one["notes"]])].join("\n").includes(word),
            );
            return json(hits.map(({ id }) => ({ id })));
          },
        ),
      ),
    ),
  },
  {
    name: "a route that shows the fields that it is told",
    expected: { code: "field-read", ...notes, way: "showCard" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf(
          {
            path: "/articles/:id/card",
            operation: "showCard",
            access: everyone,
            query: ["fields"],
          },
          async ({ params, query, store }) => {
            const found = await store.collection(article.collection).get(params["id"] ?? "");
            if (!found) throw notFound();
            const names = (query.get("fields") ?? "title").split(",");
            const allowed = isRepaired ? ["title", "content"] : Object.keys(found);
            const picked = names.filter((one) => allowed.includes(one));
            return json(Object.fromEntries(picked.map((one) => [one, Reflect.get(found, one)])));
          },
        ),
      ),
    ),
  },
  {
    name: "a count by whatever field it is told",
    expected: { code: "field-read", ...notes, way: "countArticles" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf(
          { path: "/article-counts", operation: "countArticles", access: everyone, query: ["by"] },
          async ({ query, store }) => {
            const by = query.get("by") ?? "title";
            if (isRepaired && by !== "title") throw new Problem(400);
            const groups: Found | undefined = await store
              .collection(article.collection)
              .aggregate({ by: by as "title", values: { count: "count" } })
              .catch(() => undefined);
            if (!groups) throw new Problem(400);
            return json(groups);
          },
        ),
      ),
    ),
  },
  {
    name: "a cursor with the last hidden value",
    expected: { code: "field-read", ...notes, way: "listFeed" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf({ path: "/feed", operation: "listFeed", access: everyone }, async (call) => {
          const all = await allOf(call, article);
          const last = all.at(-1);
          const place = isRepaired ? { id: last?.id } : { id: last?.id, notes: last?.["notes"] };
          const next = Buffer.from(JSON.stringify(place)).toString("base64url");
          return json({ rows: all.map(({ id }) => ({ id })), next });
        }),
      ),
    ),
  },
  {
    name: "a hook that joins private documents to a list",
    expected: { code: "field-read", resource: "diary", field: "text", way: "list" },
    ...twins((isRepaired) => {
      const withDiary = defineResource({
        ...articleOptions,
        hooks: {
          async afterList({ call, documents, rows }) {
            const diaries = await allOf(call, diary);
            return rows.map((row, index) => {
              const writer = Reflect.get(documents[index] ?? {}, "author");
              const mine = diaries.find(({ author }) =>
                isRepaired ? author === call.user?.id && author === writer : author === writer,
              );
              return { ...row, diary: mine?.["text"] };
            });
          },
        },
      });
      return serviceOf(resourceRoutes(withDiary), resourceRoutes(diary));
    }),
  },
  {
    name: "a hook that shows private comments with an article",
    expected: { code: "field-read", resource: "comment", field: "text", way: "show" },
    ...twins((isRepaired) => {
      const discussed = defineResource({
        ...articleOptions,
        hooks: {
          async afterShow({ call, document, shown }) {
            const where = { article: document.id };
            const found = await call.store.collection(comments.collection).find({ where });
            const count = found.length;
            return isRepaired ? { ...shown, count } : { ...shown, comments: found };
          },
        },
      });
      return serviceOf(resourceRoutes(discussed), resourceRoutes(comments));
    }),
  },
  {
    name: "removed documents that a route still lists",
    expected: { code: "field-read", resource: "offer", field: "text", way: "listAllOffers" },
    ...twins((isRepaired) => {
      const offer = defineResource({
        name: "offer",
        path: "/offers",
        schema: z.object({ text: z.string() }),
        owner: "seller",
        access: { list: "public", show: "public", create: "user", remove: "owner" },
        softDelete: true,
      });
      const list = routeOf(
        { path: "/all-offers", operation: "listAllOffers", access: everyone },
        async (call) => {
          const deleted = isRepaired ? "exclude" : "include";
          const found = await call.store.collection(offer.collection).find({ deleted } as never);
          return json(found.map((one) => offer.present(one as never, call as never)));
        },
      );
      return serviceOf(resourceRoutes(offer), list);
    }),
  },
  {
    name: "a path that tells whether a private document is there",
    expected: { code: "field-inferred", resource: "diary", field: "text", way: "checkDiary" },
    ...twins((isRepaired) =>
      serviceOf(
        resourceRoutes(diary),
        routeOf({ path: "/diary-texts/:text", operation: "checkDiary" }, async (call) => {
          const text = call.params["text"] ?? "";
          const where = { text, ...(isRepaired ? { author: call.user?.id ?? "" } : {}) };
          const count = await call.store.collection(diary.collection).count({ where });
          if (count === 0) throw notFound();
          return json({ isThere: true });
        }),
      ),
    ),
  },
  {
    name: "a list parameter for the beginning of a hidden text",
    expected: { code: "field-inferred", ...notes, way: "parameter begins" },
    ...twins((isRepaired) => {
      const begins = listParameter({
        schema: z.string(),
        where: (prefix) => ({ [isRepaired ? "title" : "notes"]: { prefix } }),
      });
      const list = { parameters: { begins } };
      return serviceOf(resourceRoutes(defineResource({ ...articleOptions, list })));
    }),
  },
  {
    name: "a relation by which everyone reaches comments, since their rules were widened",
    opened: "comment.text anonymous",
    ...twins((isRepaired) => {
      const rule = isRepaired ? "owner" : "public";
      const open = defineResource({ ...comment, access: { ...comment.access, show: rule } });
      const mention = defineResource({
        name: "mention",
        path: "/mentions",
        schema: z.object({ comment: z.string() }),
        access: { list: "public", create: "user" },
        relations: { comment: { to: () => open } },
      });
      return serviceOf(articleRoutes, resourceRoutes(open), resourceRoutes(mention));
    }),
  },
  {
    name: "a route that counts what costs less than a number",
    expected: { code: "field-inferred", resource: "product", field: "cost", way: "countCheap" },
    ...twins((isRepaired) =>
      serviceOf(
        resourceRoutes(product),
        routeOf(
          { path: "/cheap", operation: "countCheap", access: everyone, query: ["below"] },
          async ({ query, store }) => {
            const below = Number(query.get("below"));
            if (!Number.isFinite(below)) throw new Problem(400);
            const where = { [isRepaired ? "price" : "cost"]: { lt: below } };
            return json({ count: await store.collection(product.collection).count({ where }) });
          },
        ),
      ),
    ),
  },
];
