import { indexWithRoute, newResource, type Solutions } from "./solution.ts";

const route = "src/api/product/route.ts";
const product = "src/api/product/model.ts";
const account = "src/api/account/index.ts";
const team = "src/api/team/model.ts";

const takeStock = `    await store.transaction(async (transaction) => {
      const products = transaction.collection(product.collection);
      const found = await products.get(id);
      if (!found) throw notFound();
      if (found.stock < body.quantity) throw new Problem(409, { detail: "the stock is too small" });
      await products.increment(id, { stock: -body.quantity });
    });
`;

const addLike = `    await store.transaction(async (transaction) => {
      const products = transaction.collection(product.collection);
      const found = await products.get(id);
      if (!found) throw notFound();
      if (found.likedBy?.includes(user.id)) return;
      const likedBy = [...(found.likedBy ?? []), user.id];
      await products.update(id, { likedBy, likes: likedBy.length });
    });
`;

const addDeposit = `    const balance = await store.transaction(async (transaction) => {
      const found = transaction.collection(balances);
      const before = (await found.get(user.id))?.balance;
      const after = (before ?? 0) + body.amount;
      if (before === undefined) await found.insert({ balance: after }, { id: user.id });
      else await found.update(user.id, { balance: after });
      return after;
    });
    return Response.json({ balance }, { status: 201 });
`;

const lookBefore = `import { createResourceController, Problem, resourceRoutes } from "@fetchwork/rest";
import { team } from "./model.ts";

const controller = createResourceController(team);

export const teamRoutes = [
  ...resourceRoutes(team, {
    ...controller,
    async create(call) {
      const where = { handle: String(call.body["handle"]) };
      const [taken] = await call.store.collection(team.collection).find({ where });
      if (taken) throw new Problem(409, { detail: "the handle is taken" });
      return controller.create(call);
    },
  }),
];
`;

/** Solutions of the tasks about races. */
export const raceSolutions: Solutions = {
  stock: {
    right: {
      "src/api/product/index.ts": indexWithRoute("product", "orderProduct"),
      [route]: `import { defineRoute, Problem } from "@fetchwork/rest";
import { notFound } from "@fetchwork/rest/handlers";
import { z } from "zod";
import { product } from "./model.ts";

export const orderProduct = defineRoute({
  method: "POST",
  path: "/products/:id/orders",
  operation: "orderProduct",
  summary: "Order a product",
  tag: "products",
  access: "user",
  body: z.object({ quantity: z.int().min(1).max(100) }),
  responses: { 201: { description: "It is ordered" } },
  async handle({ params, body, store }) {
    const id = params["id"] ?? "";
${takeStock}    return Response.json({ quantity: body.quantity }, { status: 201 });
  },
});
`,
    },
    wrong: {
      "it reads the stock, and writes it later": [
        {
          path: route,
          search: takeStock,
          replace: `    const products = store.collection(product.collection);
    const found = await products.get(id);
    if (!found) throw notFound();
    if (found.stock < body.quantity) throw new Problem(409, { detail: "the stock is too small" });
    await products.update(id, { stock: found.stock - body.quantity });
`,
        },
      ],
      "it looks at the stock outside of the change": [
        {
          path: route,
          search: takeStock,
          replace: `    const products = store.collection(product.collection);
    const found = await products.get(id);
    if (!found) throw notFound();
    if (found.stock < body.quantity) throw new Problem(409, { detail: "the stock is too small" });
    await products.increment(id, { stock: -body.quantity });
`,
        },
      ],
      "a quantity may be negative": [
        { path: route, search: "z.int().min(1).max(100)", replace: "z.int().max(100)" },
      ],
    },
  },
  likes: {
    right: {
      "src/api/product/index.ts": indexWithRoute("product", "likeProduct"),
      [product]: `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

export const product = defineResource({
  name: "product",
  path: "/products",
  schema: z.object({
    name: z.string().min(1).max(100),
    stock: z.int().min(0),
    likes: z.int().default(0),
    likedBy: z.array(z.string()).optional(),
  }),
  fields: { likes: { write: "nobody" }, likedBy: "nobody" },
  access: { list: "public", show: "public", create: "admin", update: "admin", remove: "admin" },
});

export type Product = DocumentOf<typeof product>;
`,
      [route]: `import { defineRoute } from "@fetchwork/rest";
import { notFound } from "@fetchwork/rest/handlers";
import { product } from "./model.ts";

export const likeProduct = defineRoute({
  method: "POST",
  path: "/products/:id/likes",
  operation: "likeProduct",
  summary: "Like a product",
  tag: "products",
  access: "user",
  responses: { 204: { description: "It is liked" } },
  async handle({ params, user, store }) {
    const id = params["id"] ?? "";
${addLike}    return new Response(null, { status: 204 });
  },
});
`,
    },
    wrong: {
      "a user counts each time": [
        {
          path: route,
          search: addLike,
          replace: `    const products = store.collection(product.collection);
    if (!(await products.get(id))) throw notFound();
    await products.increment(id, { likes: 1 });
`,
        },
      ],
      "it reads the users, and writes them later": [
        {
          path: route,
          search: addLike,
          replace: `    const products = store.collection(product.collection);
    const found = await products.get(id);
    if (!found) throw notFound();
    const likedBy = [...new Set([...(found.likedBy ?? []), user.id])];
    await products.update(id, { likedBy, likes: likedBy.length });
`,
        },
      ],
      "admins set the number": [
        { path: product, search: 'likes: { write: "nobody" }', replace: 'likes: "public"' },
      ],
    },
  },
  "deposit-once": {
    right: {
      [account]: `import { defineCollection } from "@fetchwork/documents";
import { defineRoute } from "@fetchwork/rest";
import { z } from "zod";

const balances = defineCollection<{ balance: number }>("balances");

const deposit = defineRoute({
  method: "POST",
  path: "/account/deposits",
  operation: "deposit",
  summary: "Add to the balance",
  tag: "account",
  access: "user",
  body: z.object({ amount: z.int().min(1).max(100_000) }),
  responses: { 201: { description: "It is added" } },
  async handle({ body, user, store }) {
${addDeposit}  },
});

const showAccount = defineRoute({
  method: "GET",
  path: "/account",
  operation: "showAccount",
  summary: "Show the balance",
  tag: "account",
  access: "user",
  responses: { 200: { description: "The balance" } },
  async handle({ user, store }) {
    const found = await store.collection(balances).get(user.id);
    return Response.json({ balance: found?.balance ?? 0 });
  },
});

export const accountRoutes = [deposit, showAccount];
`,
    },
    wrong: {
      "a map of keys has no users": [
        {
          path: account,
          search: addDeposit,
          replace: `    const key = request.headers.get("idempotency-key") ?? crypto.randomUUID();
    const known = seen.get(key);
    if (known) return Response.json(await known, { status: 201 });
    const work = store.transaction(async (transaction) => {
      const found = transaction.collection(balances);
      const before = (await found.get(user.id))?.balance;
      const after = (before ?? 0) + body.amount;
      if (before === undefined) await found.insert({ balance: after }, { id: user.id });
      else await found.update(user.id, { balance: after });
      return { balance: after };
    });
    seen.set(key, work);
    return Response.json(await work, { status: 201 });
`,
        },
        {
          path: account,
          search: "async handle({ body, user, store })",
          replace: "async handle({ body, request, user, store })",
        },
        {
          path: account,
          search: "const deposit =",
          replace: "const seen = new Map<string, Promise<object>>();\n\nconst deposit =",
        },
      ],
      "it reads the balance, and writes it later": [
        {
          path: account,
          search: addDeposit,
          replace: `    const found = store.collection(balances);
    const before = (await found.get(user.id))?.balance;
    const balance = (before ?? 0) + body.amount;
    if (before === undefined) await found.insert({ balance }, { id: user.id });
    else await found.update(user.id, { balance });
    return Response.json({ balance }, { status: 201 });
`,
        },
      ],
    },
  },
  "unique-names": {
    right: newResource(
      "team",
      `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

export const team = defineResource({
  name: "team",
  path: "/teams",
  schema: z.object({
    handle: z.string().toLowerCase().regex(/^[a-z\\d-]{3,30}$/),
  }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "founder",
  unique: ["handle"],
});

export type Team = DocumentOf<typeof team>;
`,
    ),
    wrong: {
      "handles in upper case are others": [
        {
          path: team,
          search: "z.string().toLowerCase().regex(/^[a-z",
          replace: "z.string().regex(/^[A-Za-z",
        },
      ],
      "a handler looks for the handle before it creates a team": [
        { path: team, search: '  unique: ["handle"],\n', replace: '  filter: ["handle"],\n' },
        { path: "src/api/team/index.ts", replace: lookBefore },
      ],
      "a hook looks at new teams only": [
        {
          path: team,
          search: '  unique: ["handle"],\n',
          replace: `  filter: ["handle"],
  hooks: {
    async beforeCreate({ transaction, fields }) {
      const teams = transaction.collection(team.collection);
      const [taken] = await teams.find({ where: { handle: fields.handle } });
      if (taken) throw new Problem(409, { detail: "the handle is taken" });
    },
  },
`,
        },
        {
          path: team,
          search: "import { defineResource, type",
          replace: "import { defineResource, Problem, type",
        },
      ],
    },
  },
};
