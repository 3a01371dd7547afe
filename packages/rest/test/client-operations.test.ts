import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { ApiClient } from "../src/client/index.ts";
import { resourceRoutes } from "../src/http/resource-routes.ts";
import {
  createResourceController,
  type ResourceController,
} from "../src/operations/resource-controller.ts";
import { defineResource } from "../src/resource/define-resource.ts";

const order = defineResource({
  name: "order",
  path: "/orders",
  schema: z.object({ product: z.string() }),
  access: { list: "public" },
});
const whole = createResourceController(order);
const { create, list, show } = whole;

type ClientOf<Routes> =
  ApiClient<Routes> extends { readonly orders: infer Client } ? Client : never;
type Changing = "bulk" | "create" | "patch" | "remove" | "update";
type All = Changing | "groups" | "list" | "pages" | "query" | "restore" | "show";

it("the typed client has no method for a handler that the controller lacks", () => {
  const routes = resourceRoutes(order, { create, list, show });
  expect(routes.map(({ action }) => action)).toEqual(["list", "query", "show", "create"]);
  expectTypeOf<keyof ClientOf<typeof routes>>().toEqualTypeOf<
    "create" | "groups" | "list" | "pages" | "query" | "show"
  >();
  const hidden = resourceRoutes(order, { create: whole.create });
  expectTypeOf<keyof ClientOf<typeof hidden>>().toEqualTypeOf<"create">();
});

it("the typed client has all methods for a whole controller, also one with replaced handlers", () => {
  const byDefault = resourceRoutes(order);
  expectTypeOf<keyof ClientOf<typeof byDefault>>().toEqualTypeOf<All>();
  const replaced = resourceRoutes(order, {
    ...whole,
    async create(call) {
      expectTypeOf(call.body.product).toEqualTypeOf<string>();
      return new Response();
    },
  });
  expectTypeOf<keyof ClientOf<typeof replaced>>().toEqualTypeOf<All>();
  const some: Partial<ResourceController<typeof order.schema>> = { list };
  const routes = resourceRoutes(order, some);
  expectTypeOf<keyof ClientOf<typeof routes>>().toEqualTypeOf<All>();
  expect(routes).toHaveLength(2);
});

it("the type check refuses a name that is not a handler", () => {
  // @ts-expect-error -- no handler has the name
  expect(resourceRoutes(order, { list, lists: list })).toHaveLength(2);
});
