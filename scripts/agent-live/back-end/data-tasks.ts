import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { type BackEndTask, resourceFiles } from "./back-end-task.ts";

const bookings: BackEndTask = {
  name: "booking-dates",
  request:
    "Users book our house at /bookings with the usual routes, each for themselves; admins see all. A booking has the days from and to (2026-05-01), guests (a whole number from 1 to 8) and a note of at most 500 characters, which may be missing. `to` is after `from`, and at most 30 nights later. A booking that does not fit is 400, also one that a change makes so, and nothing of it is stored.",
  async check(service) {
    const as = await service.user();
    const good = { from: "2026-05-01", to: "2026-05-31", guests: 8 };
    const book = async (change: object): Promise<number> =>
      (await service.send("POST /bookings", { as, json: { ...good, ...change } })).status;
    const wrong = [
      { to: "2026-05-01" },
      { to: "2026-04-30" },
      { to: "2026-06-01" },
      { from: "2026-02-30", to: "2026-03-02" },
      { from: "01.05.2026" },
      { from: "2026-05-01T00:00:00Z" },
      { guests: 0 },
      { guests: 9 },
      { guests: 2.5 },
      { guests: "2" },
      { note: "x".repeat(501) },
      { to: undefined },
    ];
    for (const change of wrong) assert.equal(await book(change), 400, JSON.stringify(change));
    assert.equal((await service.send("POST /bookings", { json: good })).status, 401);
    const { id } = await service.created("POST /bookings", { as, json: good });
    const path = `/bookings/${String(id)}`;
    for (const change of [
      { to: "2026-04-01" },
      { from: "2026-04-30" },
      { from: "2026-06-02" },
      { guests: 9 },
    ]) {
      for (const method of ["PATCH", "PUT"]) {
        const { status } = await service.send(`${method} ${path}`, { as, json: change });
        assert.equal(status, 400, `${method} of ${JSON.stringify(change)} is ${status}`);
      }
    }
    await service.created(`PATCH ${path}`, { as, json: { from: "2026-05-30", note: "Late" } });
    const shown = await service.created(`GET ${path}`, { as });
    assert.deepEqual(
      [shown["from"], shown["to"], shown["note"]],
      ["2026-05-30", "2026-05-31", "Late"],
    );
    const { status } = await service.send(`GET ${path}`, { as: await service.user() });
    assert.ok([403, 404].includes(status), "another user sees a booking");
  },
};

const latest: BackEndTask = {
  name: "own-pages",
  request:
    'GET /articles/latest responds with {"items":[{"id","title"}],"page":1,"pages":3}: the articles, the newest first, for everybody. The query has page (from 1, default 1) and size (1 to 50, default 10); anything else in them is 400. pages is at least 1, and a page after the last one has no items. An article that was created in between may move others to the next page; apart from that each one is on exactly one page.',
  files: resourceFiles(
    "article",
    `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/** Articles: everyone reads them, users create them. */
export const article = defineResource({
  name: "article",
  path: "/articles",
  schema: z.object({ title: z.string().min(1).max(100), body: z.string().default("") }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "author",
});

export type Article = DocumentOf<typeof article>;
`,
  ),
  async check(service) {
    interface Page {
      readonly items: readonly { readonly id: string; readonly title: string }[];
      readonly page: number;
      readonly pages: number;
    }
    const page = async (query = ""): Promise<Page> =>
      (await service.created(`GET /articles/latest${query}`)) as unknown as Page;
    assert.deepEqual(await page(), { items: [], page: 1, pages: 1 });
    const as = await service.user();
    for (let index = 0; index < 23; index += 1) {
      await service.created("POST /articles", { as, json: { title: `t${index}`, body: "long" } });
    }
    const first = await page();
    assert.deepEqual([first.items.length, first.page, first.pages], [10, 1, 3]);
    assert.deepEqual(Object.keys(first.items[0] ?? {}).toSorted(), ["id", "title"]);
    const all = [first, await page("?page=2"), await page("?page=3")];
    const titles = all.flatMap(({ items }) => items.map(({ title }) => title));
    assert.deepEqual(
      titles,
      Array.from({ length: 23 }, (_, index) => `t${22 - index}`),
    );
    assert.deepEqual(await page("?page=4"), { items: [], page: 4, pages: 3 });
    const large = await page("?size=23&page=1");
    assert.deepEqual([large.items.length, large.pages], [23, 1]);
    assert.equal((await page("?size=50")).items.length, 23);
    const wrong = [
      "page=0",
      "page=-1",
      "page=1.5",
      "page=x",
      "page=",
      "size=0",
      "size=51",
      "size=1000000",
      "size=x",
      "page=1e1",
      "page=99999999999999999999",
    ];
    for (const query of wrong) {
      const { status } = await service.send(`GET /articles/latest?${query}`);
      assert.equal(status, 400, `${query} is ${status}`);
    }
  },
};

const names: BackEndTask = {
  name: "split-name",
  request:
    'Members at /members have one field name, such as "Ada King Lovelace". From now on they have firstName (1 to 100 characters) and lastName (0 to 100 characters), and name is gone. We have members already: write the migration that `npx fetchwork migrate run` runs, src/migrations/0001-split-name.ts, and do not lose a part of a name. The first word is the first name, the rest is the last name; a member with one word has an empty last name. It may run twice, and members that have the new fields already stay as they are.',
  files: resourceFiles(
    "member",
    `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/** Members: everyone reads them, and admins change them. */
export const member = defineResource({
  name: "member",
  path: "/members",
  schema: z.object({ name: z.string().min(1).max(200), city: z.string().default("") }),
  access: { list: "public", show: "public", create: "admin", update: "admin", remove: "admin" },
});

export type Member = DocumentOf<typeof member>;
`,
  ),
  async check(service) {
    const as = await service.user("admin");
    const { migration } = await service.load(firstMigration(service.path("src/migrations")));
    const { id, changes } = migration as {
      readonly id: number;
      readonly changes: readonly {
        readonly collection: string;
        readonly change: (fields: object, id: string) => object | undefined;
      }[];
    };
    assert.equal(id, 1);
    const migrate = (before: object): object => {
      let fields = before;
      for (const { collection, change } of changes) {
        if (collection === "members") fields = change(structuredClone(fields), "1") ?? fields;
      }
      return fields;
    };
    const old = ["Ada King Lovelace", "Plato", "Grace  Hopper"].map((name) => ({
      name,
      city: "X",
    }));
    const migrated = old.map(migrate);
    const [ada, plato, grace] = migrated as Readonly<Record<string, string>>[];
    assert.deepEqual(ada, { firstName: "Ada", lastName: "King Lovelace", city: "X" });
    assert.deepEqual(plato, { firstName: "Plato", lastName: "", city: "X" });
    assert.deepEqual([grace?.["firstName"], grace?.["lastName"]?.trim()], ["Grace", "Hopper"]);
    assert.deepEqual(migrated.map(migrate), migrated, "it runs twice");
    // What was migrated is what the API takes, shows and changes.
    for (const fields of migrated) {
      const made = await service.created("POST /members", { as, json: fields });
      const path = `/members/${String(made["id"])}`;
      await service.created(`PATCH ${path}`, { as, json: { city: "Y" } });
      const shown = await service.created(`GET ${path}`);
      assert.ok("firstName" in shown && "lastName" in shown && !("name" in shown));
    }
    const wrong = { as, json: { firstName: "", lastName: "x" } };
    assert.equal((await service.send("POST /members", wrong)).status, 400);
  },
};

/** Path of the migration with the number 1 in a folder. */
function firstMigration(folder: string): string {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const name = names.find((one) => /^0001-[a-z\d-]+\.ts$/.test(one));
  assert.ok(name, "there is no src/migrations/0001-….ts");
  return `src/migrations/${name}`;
}

/** What is stored, and what it was before. */
export const dataTasks: readonly BackEndTask[] = [bookings, latest, names];
