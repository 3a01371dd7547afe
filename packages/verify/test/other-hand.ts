import {
  type AccessRule,
  defineResource,
  defineRoute,
  type Route,
  type RouteDefinition,
} from "@fetchwork/rest";
import type { Service } from "@fetchwork/service";
import { z } from "zod";
import { about, type Seeded } from "./seeded.ts";

/** What a route of one's own does. */
export type Handle = RouteDefinition<AccessRule, undefined>["handle"];

/** Where an own route is, and what it takes. Default: a GET for users, without parameters. */
interface Place {
  readonly path: string;
  readonly operation: string;
  readonly method?: Route["method"];
  readonly access?: AccessRule;
  readonly query?: readonly string[];
}

const statuses = [200, 201, 204, 400, 403, 404, 409];
const responses = Object.fromEntries(statuses.map((one) => [one, { description: "A response" }]));

/** A route of one's own. */
export function routeOf(place: Place, handle: Handle): Route {
  const { access = "user", method = "GET", operation, path, query = [] } = place;
  const parameters = query.map((name) => ({ name, description: name, schema: { type: "string" } }));
  return defineRoute({
    ...about,
    method,
    path,
    operation,
    access,
    responses,
    query: parameters,
    handle,
  });
}

/** A service with a fault, and the same without it. */
export function twins(of: (isRepaired: boolean) => Service): Pick<Seeded, "faulty" | "repaired"> {
  return { faulty: () => of(false), repaired: () => of(true) };
}

/** Articles of a blog with notes that their author and admins see. */
export const articleOptions = {
  name: "article",
  path: "/articles",
  schema: z.object({ title: z.string(), content: z.string(), notes: z.string() }),
  owner: "author",
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  fields: { notes: "owner" },
} as const;
export const article = defineResource(articleOptions);

/** Diaries that only their author and admins see. */
export const diary = defineResource({
  name: "diary",
  path: "/diaries",
  schema: z.object({ text: z.string() }),
  owner: "author",
  access: { list: "owner", show: "owner", create: "user", update: "owner", remove: "owner" },
});

/** Products of a shop, with what the shop has paid for them. */
export const productOptions = {
  name: "product",
  path: "/products",
  schema: z.object({ name: z.string(), price: z.int(), cost: z.int() }),
  owner: "seller",
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  fields: { cost: "owner" },
} as const;
export const product = defineResource(productOptions);
