import assert from "node:assert/strict";
import { type BackEndTask, resourceFiles } from "./back-end-task.ts";

const products = resourceFiles(
  "product",
  `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/** Products: everyone reads them, and admins change them. */
export const product = defineResource({
  name: "product",
  path: "/products",
  schema: z.object({ name: z.string().min(1).max(100), stock: z.int().min(0) }),
  access: { list: "public", show: "public", create: "admin", update: "admin", remove: "admin" },
});

export type Product = DocumentOf<typeof product>;
`,
);

const stock: BackEndTask = {
  name: "stock",
  request:
    'Users order products: POST /products/:id/orders with {"quantity":2}, a whole number from 1 to 100, takes that many from the stock and responds 201 with {"quantity":2}. Where the stock is too small nothing is taken, and the response is 409. An unknown product is 404, and callers who are not signed in get 401. Many users order at the same time: the stock never goes below zero, and each order is taken from it.',
  files: products,
  async check(service) {
    const [ada, admin] = [await service.user(), await service.user("admin")];
    const made = { as: admin, json: { name: "Tea", stock: 7 } };
    const { id } = await service.created("POST /products", made);
    const path = `/products/${String(id)}`;
    const order = (quantity: unknown, as?: string) =>
      service.send(`POST ${path}/orders`, { as, json: { quantity } });
    assert.equal((await order(1)).status, 401);
    for (const wrong of [0, -1, 1.5, "x", 101]) {
      assert.equal((await order(wrong, ada)).status, 400, `a quantity of ${wrong}`);
    }
    const unknown = { as: ada, json: { quantity: 1 } };
    assert.equal((await service.send("POST /products/none/orders", unknown)).status, 404);
    assert.equal((await order(8, ada)).status, 409);
    const got = await service.statuses(20, () => order(2, ada));
    assert.deepEqual(got, [...Array<number>(3).fill(201), ...Array<number>(17).fill(409)]);
    assert.equal((await service.created(`GET ${path}`))["stock"], 1);
    assert.deepEqual((await order(1, ada)).json, { quantity: 1 });
    assert.equal((await service.created(`GET ${path}`))["stock"], 0);
  },
};

const likes: BackEndTask = {
  name: "likes",
  request:
    "Products get a number likes, 0 at first, which everybody sees and nobody sets. POST /products/:id/likes of a user adds 1 and responds 204. A user counts once per product: another like of the same user also responds 204 and adds nothing. An unknown product is 404, and callers who are not signed in get 401. No like is lost, and none counts twice, when many come at the same moment.",
  files: products,
  async check(service) {
    const admin = await service.user("admin");
    const sent = { name: "Tea", stock: 1, likes: 5 };
    const { id } = await service.created("POST /products", { as: admin, json: sent });
    const path = `/products/${String(id)}`;
    const likes = async (): Promise<unknown> => (await service.created(`GET ${path}`))["likes"];
    assert.equal(await likes(), 0);
    await service.send(`PATCH ${path}`, { as: admin, json: { likes: 9 } });
    assert.equal(await likes(), 0);
    const like = (as?: string) => service.send(`POST ${path}/likes`, { as });
    assert.equal((await like()).status, 401);
    const unknown = await service.send("POST /products/none/likes", { as: admin });
    assert.equal(unknown.status, 404);
    const users = await Promise.all(Array.from({ length: 4 }, () => service.user()));
    const done = await service.statuses(20, (index) => like(users[index % users.length]));
    assert.deepEqual(done, Array<number>(20).fill(204));
    assert.equal(await likes(), 4);
    await service.created(`PATCH ${path}`, { as: admin, json: { name: "Green tea" } });
    assert.equal(await likes(), 4);
  },
};

const deposits: BackEndTask = {
  name: "deposit-once",
  request:
    'Each user has an account with a balance in cents. POST /account/deposits with {"amount":500}, a whole number from 1 to 100000, adds to the balance of the caller and responds 201 with {"balance":500}; GET /account responds with {"balance":500}, 0 at first. Apps send a deposit again after a timeout, with the same header Idempotency-Key: it must not be added twice, and the repetition gets the first response. Apps choose their keys themselves, so two users may have the same one.',
  async check(service) {
    const [ada, bob] = [await service.user(), await service.user()];
    const balance = async (as: string): Promise<unknown> =>
      (await service.created("GET /account", { as }))["balance"];
    const deposit = (as: string | undefined, amount: unknown, key?: string) =>
      service.send("POST /account/deposits", {
        as,
        json: { amount },
        ...(key !== undefined && { headers: { "idempotency-key": key } }),
      });
    assert.equal(await balance(ada), 0);
    assert.equal((await service.send("GET /account")).status, 401);
    assert.equal((await deposit(undefined, 1)).status, 401);
    for (const wrong of [0, -5, 0.5, "5", 100_001]) {
      assert.equal((await deposit(ada, wrong)).status, 400, `an amount of ${wrong}`);
    }
    const [first, again] = [await deposit(ada, 500, "key-1"), await deposit(ada, 500, "key-1")];
    assert.deepEqual([first.status, first.json], [201, { balance: 500 }]);
    assert.deepEqual([again.status, again.json], [201, { balance: 500 }]);
    assert.equal(await balance(ada), 500);
    assert.deepEqual((await deposit(bob, 500, "key-1")).json, { balance: 500 });
    assert.equal(await balance(bob), 500, "a key of another user is another key");
    // A repetition that comes while the first one runs waits, or gets a 409.
    const same = await service.statuses(20, () => deposit(ada, 70, "key-2"));
    assert.ok(same.every((status) => status === 201 || status === 409));
    assert.equal(await balance(ada), 570);
    await service.statuses(20, () => deposit(bob, 1));
    assert.equal(await balance(bob), 520, "deposits without a key are all added");
  },
};

const uniqueNames: BackEndTask = {
  name: "unique-names",
  request:
    "Users found teams, at /teams with the usual routes: everybody reads them, and the user who founded a team, and admins, change and remove it. A team has a handle of 3 to 30 letters, digits and hyphens. A handle is taken once: a request for one that is taken gets 409, also when two ask at the same moment, and Blue-Team is the same handle as blue-team. It is shown in lower case.",
  async check(service) {
    const users = [await service.user(), await service.user()];
    const [ada] = users;
    const found = (handle: string, as?: string) =>
      service.send("POST /teams", { as, json: { handle } });
    assert.equal((await found("blue-team")).status, 401);
    for (const wrong of ["ab", "a b c", "x".repeat(31), "tea/m"]) {
      assert.equal((await found(wrong, ada)).status, 400, `the handle ${wrong}`);
    }
    const race = await service.statuses(20, (index) =>
      found(index % 4 < 2 ? "Blue-Team" : "blue-team", users[index % 2]),
    );
    assert.deepEqual(race, [201, ...Array<number>(19).fill(409)]);
    const listed = await service.list("GET /teams");
    assert.deepEqual(
      listed.map(({ handle }) => handle),
      ["blue-team"],
    );
    const { id } = await service.created("POST /teams", { as: ada, json: { handle: "red-team" } });
    const rename = { as: ada, json: { handle: "BLUE-team" } };
    assert.equal((await service.send(`PATCH /teams/${String(id)}`, rename)).status, 409);
    const stranger = { as: users[1], json: { handle: "mine" } };
    assert.equal((await service.send(`PATCH /teams/${String(id)}`, stranger)).status, 403);
  },
};

/** What happens when many ask at the same moment. */
export const raceTasks: readonly BackEndTask[] = [stock, likes, deposits, uniqueNames];
