import { openStore } from "@fetchwork/documents";
import { defineResource, type Resource } from "@fetchwork/rest";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { announcedResources } from "../../src/webhooks/announced-resources.ts";

const member = defineResource({
  name: "member",
  path: "/members",
  schema: z.object({ name: z.string(), picture: z.string().optional(), email: z.string() }),
  access: {},
  owner: "id",
  fields: {
    picture: { read: "admin" },
    email: { read: "admin" },
    createdAt: { read: "admin" },
    updatedAt: { read: "admin" },
  },
});
const order = defineResource({
  name: "order",
  path: "/orders",
  schema: z.object({ text: z.string() }),
  access: {},
  owner: "buyer",
  changes: "documents",
});
const secretive = defineResource({
  name: "ballot",
  path: "/ballots",
  schema: z.object({ text: z.string() }),
  access: {},
  owner: "voter",
  fields: { voter: { read: "nobody" } },
  changes: "documents",
});

/** What is announced of a document of ann after a change. */
async function announced(
  resource: Resource,
  { users, kind = "update" }: { readonly users?: Resource; readonly kind?: "remove" | "update" },
) {
  const store = await openStore("sqlite::memory:", {
    collections: [member.collection, order.collection],
  });
  onTestFinished(() => store.close());
  const ann = { name: "Ann", picture: "https://a/", email: "ann@example.com" };
  await store.collection(member.collection).insert(ann, { id: "ann" });
  const at = new Date(0).toISOString();
  const [one] = announcedResources([resource], { store, users });
  return async (owner: string) => {
    const document = {
      id: "o1",
      version: 1,
      createdAt: at,
      updatedAt: at,
      text: "t",
      [resource.owner ?? ""]: owner,
    };
    const change = {
      collection: resource.collection.name,
      id: "o1",
      version: 1,
      position: "1",
      at,
    };
    const event = await one?.event({ ...change, kind, document });
    return event?.payload as Readonly<Record<string, unknown>>;
  };
}

it("an announced document has its owner, of whom only what everyone may see", async () => {
  const show = await announced(order, { users: member });
  expect(await show("ann")).toMatchObject({
    order: { id: "o1", text: "t", buyer: { id: "ann", name: "Ann", picture: null } },
  });
  expect(await show("removed")).toMatchObject({ order: { buyer: null } });
});

it.each([
  ["whose owner is shown to nobody", secretive, { users: member }],
  ["of a service without users", order, {}],
] as const)("an announced document %s has no owner", async (_, resource, options) => {
  const show = await announced(resource, options);
  expect(JSON.stringify(await show("ann"))).not.toContain("ann");
});

it("a removed document has its identifier only", async () => {
  const show = await announced(order, { users: member, kind: "remove" });
  expect(await show("ann")).toEqual({ action: "removed", order: { id: "o1" } });
});
