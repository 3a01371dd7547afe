import assert from "node:assert/strict";
import { type BackEndTask, resourceFiles } from "./back-end-task.ts";

const articles = resourceFiles(
  "article",
  `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/**
 * Articles: users create them, everyone reads them, and the author and admins change and remove
 * them.
 */
export const article = defineResource({
  name: "article",
  path: "/articles",
  schema: z.object({
    title: z.string().trim().min(1).max(200),
    published: z.boolean().default(false),
  }),
  fields: { published: { write: "nobody" } },
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "author",
  filter: ["published"],
  search: ["title"],
});

export type Article = DocumentOf<typeof article>;
`,
);

const ownNotes: BackEndTask = {
  name: "own-notes",
  request:
    "Users want to keep notes, at /notes with the usual routes. A note has a text of 1 to 1,000 characters. A note is private: only the user who wrote it, and admins, may list it, see it, change it and remove it. Everybody who is signed in may write notes.",
  async check(service) {
    const [ada, bob] = [await service.user(), await service.user()];
    const admin = await service.user("admin");
    const note = await service.created("POST /notes", { as: ada, json: { text: "Secret" } });
    const path = `/notes/${String(note["id"])}`;
    assert.equal((await service.send("POST /notes", { json: { text: "x" } })).status, 401);
    assert.equal((await service.send("POST /notes", { as: ada, json: { text: "" } })).status, 400);
    assert.equal((await service.send(`GET ${path}`)).status, 401, "nobody sees a note");
    for (const method of ["GET", "PATCH", "PUT", "DELETE"]) {
      const sent = method === "GET" || method === "DELETE" ? {} : { json: { text: "Mine" } };
      const { status } = await service.send(`${method} ${path}`, { as: bob, ...sent });
      assert.ok([403, 404].includes(status), `${method} of another user is ${status}`);
    }
    assert.equal((await service.send("GET /notes")).status, 401, "nobody lists notes");
    const listed = await service.send("GET /notes", { as: bob });
    assert.doesNotMatch(listed.text, /Secret/, "others do not list a note");
    assert.match((await service.send("GET /notes", { as: ada })).text, /Secret/);
    await service.created(`PATCH ${path}`, { as: admin, json: { text: "Checked" } });
    const seen = await service.created(`GET ${path}`, { as: ada });
    assert.equal(seen["text"], "Checked");
    await service.created(`DELETE ${path}`, { as: ada });
  },
};

const hiddenSalary: BackEndTask = {
  name: "hidden-salary",
  request:
    "Everybody sees the salaries of our members at /members. Only admins may see them from now on; all else stays as it is. Nobody else may find a salary out in another way either, such as by sorting or filtering the list.",
  files: resourceFiles(
    "member",
    `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/** Members: everyone reads them, and admins change them. */
export const member = defineResource({
  name: "member",
  path: "/members",
  schema: z.object({ name: z.string().min(1).max(100), salary: z.int().min(0) }),
  access: { list: "public", show: "public", create: "admin", update: "admin", remove: "admin" },
  filter: ["name", "salary"],
  sort: ["name", "salary"],
});

export type Member = DocumentOf<typeof member>;
`,
  ),
  async check(service) {
    const [ada, admin] = [await service.user(), await service.user("admin")];
    const made = { as: admin, json: { name: "Bob", salary: 4711 } };
    const { id } = await service.created("POST /members", made);
    await service.created("POST /members", { as: admin, json: { name: "Cleo", salary: 900 } });
    for (const as of [undefined, ada]) {
      const shown = await service.created(`GET /members/${String(id)}`, { as });
      assert.equal(shown["name"], "Bob");
      assert.ok(!("salary" in shown) || shown["salary"] === null, "the salary is shown");
      const listed = await service.send("GET /members", { as });
      assert.match(listed.text, /Cleo/);
      assert.doesNotMatch(listed.text, /4711/, "the salary is listed");
      const where = encodeURIComponent('{"salary":4711}');
      for (const query of ["salary=4711", "salary[gte]=1000", "sort=salary", `where=${where}`]) {
        const { status } = await service.send(`GET /members?${query}`, { as });
        assert.ok(status >= 400, `${query} is ${status}`);
      }
      assert.doesNotMatch((await service.send("GET /members?fields=salary", { as })).text, /4711/);
    }
    const own = await service.created(`GET /members/${String(id)}`, { as: admin });
    assert.equal(own["salary"], 4711, "an admin sees the salary");
    const sorted = await service.send("GET /members?sort=salary", { as: admin });
    assert.deepEqual(
      [sorted.status, sorted.text.indexOf("Cleo") < sorted.text.indexOf("Bob")],
      [200, true],
    );
  },
};

const featured: BackEndTask = {
  name: "featured-by-admins",
  request:
    "Articles get a field featured, true or false, false at first. Everybody sees it and can filter the list by it. Only admins set it: an author who sends featured: true, when creating an article or changing one, does not get a featured article. Authors go on changing the titles of their articles, featured ones too.",
  files: articles,
  async check(service) {
    const [ada, admin] = [await service.user(), await service.user("admin")];
    const sent = { title: "Tea", featured: true };
    await service.send("POST /articles", { as: ada, json: sent });
    const { id } = await service.created("POST /articles", { as: ada, json: { title: "Rice" } });
    const path = `/articles/${String(id)}`;
    for (const method of ["PATCH", "PUT"]) {
      await service.send(`${method} ${path}`, { as: ada, json: { title: "Rice", featured: true } });
    }
    const before = await service.send("GET /articles?featured=true");
    assert.deepEqual(before.json, [], "an author set it");
    assert.equal((await service.created(`GET ${path}`))["featured"], false);
    await service.created(`PATCH ${path}`, { as: admin, json: { featured: true } });
    assert.equal((await service.created(`GET ${path}`))["featured"], true, "an admin sets it");
    await service.created(`PATCH ${path}`, { as: ada, json: { title: "Basmati" } });
    const after = await service.created(`GET ${path}`);
    assert.deepEqual([after["title"], after["featured"]], ["Basmati", true]);
    const found = await service.send("GET /articles?featured=true");
    assert.match(found.text, /Basmati/);
    const other = { title: "News", featured: true };
    const made = await service.created("POST /articles", { as: admin, json: other });
    assert.equal(made["featured"], true, "an admin creates a featured article");
  },
};

const publication: BackEndTask = {
  name: "publish-route",
  request:
    "POST /articles/:id/publication sets published of an article to true and responds 204. The author and admins may do that: others get 403, callers who are not signed in 401, and an article that is not there is 404.",
  files: articles,
  async check(service) {
    const [ada, bob] = [await service.user(), await service.user()];
    const admin = await service.user("admin");
    const paths: string[] = [];
    for (const title of ["One", "Two"]) {
      const { id } = await service.created("POST /articles", { as: ada, json: { title } });
      paths.push(`/articles/${String(id)}`);
    }
    const [one = "", two = ""] = paths;
    const publish = async (path: string, as?: string): Promise<number> =>
      (await service.send(`POST ${path}/publication`, { as })).status;
    assert.equal(await publish(one), 401);
    assert.equal(await publish(one, bob), 403);
    assert.equal((await service.created(`GET ${one}`))["published"], false);
    assert.equal(await publish("/articles/none", ada), 404);
    assert.equal(await publish(one, ada), 204);
    assert.equal(await publish(two, admin), 204);
    for (const path of paths)
      assert.equal((await service.created(`GET ${path}`))["published"], true);
  },
};

const drafts: BackEndTask = {
  name: "hidden-drafts",
  request:
    "An article with published: false is a draft. Only its author and admins may see drafts: for everybody else they are not in the list, its searches, filters and counts, and GET /articles/:id responds 403 or 404 (401 for callers who are not signed in is fine, too). Authors set published themselves, when they create or change an article.",
  files: articles,
  async check(service) {
    const [ada, bob] = [await service.user(), await service.user()];
    const admin = await service.user("admin");
    const draft = { title: "Draft", published: false };
    const { id } = await service.created("POST /articles", { as: ada, json: draft });
    const open = { title: "Open", published: true };
    const other = await service.created("POST /articles", { as: ada, json: open });
    for (const as of [undefined, bob]) {
      for (const query of ["", "?q=Draft", "?published=false", "?sort=id", "?fields=title"]) {
        const { text, headers } = await service.send(`GET /articles${query}`, { as });
        assert.doesNotMatch(text, /Draft/, `the list ${query} has a draft`);
        assert.notEqual(headers.get("x-total-count"), "2", "a draft is counted");
      }
      const { status, text } = await service.send(`GET /articles/${String(id)}`, { as });
      assert.ok(status >= 401 && status <= 404, `a draft is shown with ${status}`);
      assert.doesNotMatch(text, /Draft/);
      await service.created(`GET /articles/${String(other["id"])}`, { as });
    }
    for (const as of [ada, admin]) {
      assert.match((await service.send("GET /articles", { as })).text, /Draft/);
      await service.created(`GET /articles/${String(id)}`, { as });
    }
    await service.created(`PATCH /articles/${String(id)}`, { as: ada, json: { published: true } });
    assert.match((await service.send("GET /articles")).text, /Draft/);
  },
};

/** Who may see and do what. */
export const accessTasks: readonly BackEndTask[] = [
  ownNotes,
  hiddenSalary,
  featured,
  publication,
  drafts,
];
