import { defineResource, listParameter, Problem, type Resource } from "@fetchwork/rest";
import { z } from "zod";

/** What the hooks of {@link order} saw. */
export const events: string[] = [];

export const part = defineResource({
  name: "part",
  path: "/parts",
  schema: z.object({ label: z.string().max(20) }),
  access: {
    list: "public",
    show: "public",
    create: "public",
    update: "public",
    remove: "public",
  },
});

/** A resource with everything that a definition can say. */
export const order = defineResource({
  name: "order",
  path: "/shop/orders",
  // Lets any field pass, so that only the resource keeps clients from setting its owner.
  schema: z.looseObject({
    code: z.string().min(1).max(20),
    remark: z.string().max(40).nullable().optional(),
    parts: z.array(z.string()).max(4).default([]),
    parent: z.string().optional(),
    pin: z.string().max(9).optional(),
    stage: z.enum(["new", "paid"]).default("new"),
    place: z
      .object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })
      .optional(),
  }),
  access: {
    list: "user",
    show: ({ user, document }) => user !== undefined || document?.["code"] === "open",
    create: "user",
    update: "owner",
    remove: "owner",
    restore: ({ user, document }) => user?.id === document?.["maker"],
  },
  owner: "maker",
  unique: ["code"],
  search: ["code"],
  sort: ["code"],
  filter: ["code", "stage", "maker"],
  geo: "place",
  secret: ["pin"],
  readOnly: ["stage"],
  computed: { size: { schema: z.int(), value: ({ parts }) => parts.length } },
  softDelete: true,
  bulk: { limit: 5 },
  relations: {
    parts: { to: () => part, many: true, onDelete: "nullify" },
    parent: { to: (): Resource => order, onDelete: "restrict" },
    children: { to: (): Resource => order, inverse: "parent", limit: 3 },
  },
  populate: { paths: ["parts", "parent.parts", "children"] },
  list: {
    shape: "rows",
    count: 2,
    limit: { default: 3, max: 5 },
    sort: ["code"],
    names: { limit: "size" },
    parameters: {
      long: listParameter({
        description: "Orders of long codes only",
        schema: z.enum(["yes"]),
        where: () => ({ code: { gte: "m" } }),
      }),
    },
  },
  hooks: {
    beforeList({ call }) {
      events.push("beforeList");
      if (call.query.get("q") === "refused") throw new Problem(403, { detail: "not this search" });
      return call.user?.role === "admin" ? undefined : { code: { ne: "hidden" } };
    },
    afterList({ rows }) {
      events.push(`afterList ${rows.length}`);
      return rows.map((row) => ({ ...row, seen: true }));
    },
    beforeShow({ id }) {
      events.push(`beforeShow ${id === "" ? "none" : "one"}`);
    },
    afterShow({ document, shown }) {
      if (document.code === "gone") throw new Problem(404, { detail: "gone" });
      events.push(`afterShow ${document.code}`);
      return { ...shown, seen: true };
    },
    beforeCreate({ fields }) {
      if (fields.code === "no") throw new Problem(403, { detail: "not this code" });
      events.push(`beforeCreate ${fields.code}`);
      return { ...fields, tenant: "t1" };
    },
    afterCreate({ document }) {
      events.push(`afterCreate ${document.code} ${String(document["tenant"])}`);
      if (document.code === "late") throw new Error("after the creation");
    },
    beforeUpdate({ current, fields }) {
      if (fields.code === "no") throw new Problem(403, { detail: "not this code" });
      events.push(`beforeUpdate ${current.code} ${fields.code} ${String(fields["tenant"])}`);
      return fields.code === "paid" ? { ...fields, stage: "paid" } : undefined;
    },
    afterUpdate({ before, document }) {
      events.push(`afterUpdate ${before.code} ${document.code}`);
    },
    beforeRemove({ current }) {
      if (current.stage === "paid") throw new Problem(409, { detail: "it is paid" });
      events.push(`beforeRemove ${current.code}`);
    },
    afterRemove({ document }) {
      events.push(`afterRemove ${document.code}`);
    },
    beforeRestore({ current }) {
      events.push(`beforeRestore ${current.code}`);
    },
    afterRestore({ document }) {
      events.push(`afterRestore ${document.code}`);
    },
  },
});
