import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { defineResource, type Resource } from "../src/resource.ts";

const member = defineResource({
  name: "member",
  path: "/team/members",
  schema: z.object({ name: z.string(), pin: z.string().optional() }),
  access: {},
  secret: ["pin"],
  computed: {
    length: { schema: z.number(), value: ({ name }) => name.length },
    hasPin: { schema: z.boolean(), value: ({ pin }) => pin !== undefined },
  },
  hooks: {
    beforeCreate({ fields }) {
      expectTypeOf(fields.name).toEqualTypeOf<string>();
      return { ...fields, name: fields.name.trim() };
    },
    afterUpdate({ before, document }) {
      expectTypeOf(before.name).toEqualTypeOf<string>();
      expectTypeOf(document.version).toEqualTypeOf<number>();
    },
  },
});

type ShownOf<R> = R extends Resource<infer _S, infer _P, infer Shown> ? Shown : never;
type Member = ShownOf<typeof member>;

describe("types of a resource", () => {
  it("have what is shown: no secrets, and computed fields", () => {
    expectTypeOf<keyof Member>().toEqualTypeOf<
      "createdAt" | "hasPin" | "id" | "length" | "name" | "updatedAt"
    >();
    expectTypeOf<Member["length"]>().toEqualTypeOf<number | undefined>();
  });

  it("follow the view", () => {
    const short = defineResource({
      name: "note",
      path: "/notes",
      schema: z.object({ text: z.string(), hidden: z.string() }),
      access: {},
      view: ["id", "text"],
    });
    expectTypeOf<keyof ShownOf<typeof short>>().toEqualTypeOf<"id" | "text">();
  });
});
