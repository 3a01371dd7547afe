import { describe, expect, it } from "vitest";
import { openApi, transports } from "./api-client.ts";

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const form = { title: "Awesome Article", content: "Yeah Baby" };

describe.each(transports)("articles (%s)", (transport) => {
  it("are not created by who shows no token, and nothing changes", async () => {
    const api = await openApi(transport);
    const refused = await api.send("POST", "/articles", { form });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="api"');
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
    expect((await api.send("GET", "/articles")).json).toEqual([]);
  });

  it.each([
    [{}, "title", "required"],
    [{ title: "" }, "title", "minlength"],
    [{ title: "x".repeat(201) }, "title", "maxlength"],
    [{ title: 1 }, "title", "type"],
    [{ title: "t", content: {} }, "content", "type"],
  ])("are refused with the field that is wrong: %j", async (json, param, name) => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const refused = await api.send("POST", "/articles", { json, token });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ valid: false, param, name, status: 400 });
    expect(refused.json.errors).toHaveLength(1);
    expect((await api.send("GET", "/articles")).headers.get("x-total-count")).toBe("0");
  });

  it.each(["form", "json", "query", "bearer"])("take the token as %s", async (place) => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const field = { ...form, access_token: token };
    const created =
      place === "form"
        ? await api.send("POST", "/articles", { form: field })
        : place === "json"
          ? await api.send("POST", "/articles", { json: field })
          : place === "query"
            ? await api.send("POST", `/articles?access_token=${token}`, { form })
            : await api.send("POST", "/articles", { form, token });
    expect(created.status).toBe(201);
  });

  it("are created with exactly the fields of the specification", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const { status, headers, json } = await api.send("POST", "/articles", { form, token });
    expect(status).toBe(201);
    expect(Object.keys(json)).toEqual([
      "id",
      "title",
      "content",
      "createdAt",
      "updatedAt",
      "author",
    ]);
    expect(json).toMatchObject(form);
    expect(json.createdAt).toMatch(isoTime);
    expect(json.updatedAt).toBe(json.createdAt);
    expect(headers.get("location")).toBe(`/articles/${json.id}`);
    expect(headers.get("etag")).toMatch(/^"1~/);
    expect((await api.send("GET", `/articles/${json.id}`, { token })).json).toEqual(json);
  });

  it("show their author to everyone, and what follows from its email to nobody else", async () => {
    const api = await openApi(transport);
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const admin = await api.join("admin@example.com", "admin");
    const created = await api.send("POST", "/articles", { form, token: ada.token });
    const derived = { id: ada.id, name: "ada", picture: expect.stringContaining("gravatar") };
    expect(created.json.author).toEqual(derived);
    const path = `/articles/${created.json.id}`;
    const bare = { id: ada.id, name: null, picture: null };
    for (const [token, author] of [
      [undefined, bare],
      [bob.token, bare],
      [ada.token, derived],
      [admin.token, derived],
    ] as const) {
      expect((await api.send("GET", path, { token })).json.author).toEqual(author);
      expect((await api.send("GET", "/articles", { token })).json[0].author).toEqual(author);
    }
    const { headers } = await api.send("GET", path);
    expect(headers.get("vary")).toContain("Authorization");
    const stale = { headers: { "if-none-match": headers.get("etag") ?? "" } };
    expect((await api.send("GET", path, stale)).status).toBe(304);
    await api.send("PUT", "/users/me", { json: { name: "Ada L." }, token: ada.token });
    expect((await api.send("GET", path, stale)).json.author.name).toBe("Ada L.");
    await api.send("DELETE", `/users/${ada.id}`, { token: admin.token });
    expect((await api.send("GET", path, stale)).json.author).toBeNull();
  });

  it("are only changed and deleted by their author and by admins", async () => {
    const api = await openApi(transport);
    const author = await api.join("author@example.com");
    const other = await api.join("other@example.com");
    const admin = await api.join("admin@example.com", "admin");
    const { json: article } = await api.send("POST", "/articles", { form, token: author.token });
    const path = `/articles/${article.id}`;

    for (const method of ["PUT", "PATCH", "DELETE"]) {
      expect((await api.send(method, path, { form: { title: "x" } })).status).toBe(401);
      const refused = await api.send(method, path, { form: { title: "x" }, token: other.token });
      expect(refused.status).toBe(403);
    }
    expect((await api.send("GET", path, { token: author.token })).json).toEqual(article);

    const byAuthor = await api.send("PUT", path, { form: { title: "New" }, token: author.token });
    expect(byAuthor.json).toMatchObject({ title: "New", content: form.content });
    const byAdmin = await api.send("PUT", path, { form: { content: "C" }, token: admin.token });
    expect(byAdmin.json).toMatchObject({
      title: "New",
      content: "C",
      createdAt: article.createdAt,
    });
    // The admin's change has not taken the article from its author.
    expect((await api.send("DELETE", path, { token: author.token })).status).toBe(204);
    expect((await api.send("GET", path)).status).toBe(404);
  });

  it("keep their identifier, times, owner and version, whatever is sent", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const sly = { id: "x", author: "x", version: 9, createdAt: "x", updatedAt: "x", extra: 1 };
    const created = await api.send("POST", "/articles", { json: { ...form, ...sly }, token });
    const path = `/articles/${created.json.id}`;
    const updated = await api.send("PATCH", path, { json: { ...sly, title: "T" }, token });
    expect(updated.status).toBe(200);
    expect(updated.json).toEqual({
      ...created.json,
      title: "T",
      updatedAt: expect.stringMatching(isoTime),
    });
    expect(updated.headers.get("etag")).toMatch(/^"2~/);
  });

  it("are patched as JSON Merge Patch: null removes, so a required field is refused", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const { json } = await api.send("POST", "/articles", { form, token });
    const path = `/articles/${json.id}`;
    const headers = { "content-type": "application/merge-patch+json" };
    const cleared = await api.send("PATCH", path, { json: { content: null }, headers, token });
    expect(cleared.json.content).toBe("");
    const refused = await api.send("PATCH", path, { json: { title: null }, headers, token });
    expect(refused.json).toMatchObject({ status: 400, param: "title", name: "required" });
  });

  it("are changed on condition of their version", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const { json } = await api.send("POST", "/articles", { form, token });
    const path = `/articles/${json.id}`;
    const change = (title: string, tag: string) =>
      api.send("PUT", path, { form: { title }, token, headers: { "if-match": tag } });

    expect((await change("two", '"1"')).status).toBe(200);
    const late = await change("late", '"1"');
    expect(late.status).toBe(412);
    expect(late.headers.get("etag")).toBe('"2"');
    expect((await change("weak", 'W/"2"')).status).toBe(412);
    expect((await change("any", "*")).status).toBe(200);
    const remove = (tag: string) =>
      api.send("DELETE", path, { token, headers: { "if-match": tag } });
    expect((await remove('"1"')).status).toBe(412);
    expect((await api.send("GET", path)).json.title).toBe("any");
    expect((await remove('"3"')).status).toBe(204);
  });

  it("are not sent again to who has them", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const { json, headers: created } = await api.send("POST", "/articles", { form, token });
    const headers = { "if-none-match": created.get("etag") ?? "" };
    const unchanged = await api.send("GET", `/articles/${json.id}`, { headers, token });
    expect(unchanged.status).toBe(304);
    expect(unchanged.json).toBeUndefined();
    expect(unchanged.headers.get("etag")).toBe(created.get("etag"));
  });

  it("are all changed when more write at once than may lose", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const { json } = await api.send("POST", "/articles", { form, token });
    const path = `/articles/${json.id}`;
    const changes = Array.from({ length: 64 }, (_, index) =>
      api.send("PUT", path, { form: { title: `t${index}` }, token }),
    );
    const statuses = new Set((await Promise.all(changes)).map(({ status }) => status));
    expect([...statuses]).toEqual([200]);
    expect((await api.send("GET", path)).headers.get("etag")).toMatch(/^"65~/);
    const any = { form: { title: "any" }, token, headers: { "if-match": "*" } };
    const all = await Promise.all([1, 2, 3, 4].map(() => api.send("PUT", path, any)));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it("refuse a change that If-None-Match rules out, and a patch that is too deep", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const { json, headers } = await api.send("POST", "/articles/", { form, token });
    expect(headers.get("location")).toBe(`/articles/${json.id}`);
    const path = `/articles/${json.id}`;
    const none = { form: { title: "x" }, token, headers: { "if-none-match": "*" } };
    expect((await api.send("PUT", path, none)).status).toBe(412);
    const body = `${'{"x":'.repeat(8_000)}1${"}".repeat(8_000)}`;
    const deep = { body, token, headers: { "content-type": "application/json" } };
    expect((await api.send("PATCH", path, deep)).status).toBe(400);
    expect((await api.send("GET", path, { token })).json).toEqual(json);
  });

  it("lose no update when many change one at once", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    const { json } = await api.send("POST", "/articles", { form, token });
    const path = `/articles/${json.id}`;
    const changes = Array.from({ length: 8 }, (_, index) =>
      api.send("PUT", path, {
        form: index % 2 ? { title: `t${index}` } : { content: `c${index}` },
        token,
      }),
    );
    for (const change of await Promise.all(changes)) expect(change.status).toBe(200);
    const last = await api.send("GET", path);
    expect(last.headers.get("etag")).toMatch(/^"9~/);
    expect(last.json.title).toMatch(/^t\d$/);
    expect(last.json.content).toMatch(/^c\d$/);
  });

  it.each([
    "nope",
    "..%2f..%2fusers",
    "%F0%9F%98%80",
    "'; DROP TABLE articles; --",
    "a".repeat(3_000),
  ])("answer 404 for the identifier %s", async (id) => {
    const api = await openApi(transport);
    const missing = await api.send("GET", `/articles/${id}`);
    expect(missing.status).toBe(404);
    expect(missing.headers.get("content-type")).toBe("application/problem+json");
  });

  it.each(["%00", "a%00b", "%ED%A0%80"])("refuse the identifier %s with 400", async (id) => {
    const api = await openApi(transport);
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      expect((await api.send(method, `/articles/${id}`)).status).toBe(400);
    }
  });
});

describe.each(transports)("the list of articles (%s)", (transport) => {
  const titles = ["Árvore", "banana", "Cherry pie", "date", "Elder", "fig", "grape"];

  async function filled(): Promise<Awaited<ReturnType<typeof openApi>>> {
    const api = await openApi(transport);
    const { token } = await api.join("a@example.com");
    for (const title of titles) {
      await api.send("POST", "/articles", { form: { title, content: `About ${title}` }, token });
    }
    return api;
  }

  it.each([
    ["page=0", "page"],
    ["q=aa+ab+ac+ad+ae+af+ag+ah", "q"],
    ["limit=101", "limit"],
    ["sort=author", "sort"],
    ["sort=passwordHash", "sort"],
    ["fields=title,-content", "fields"],
    ["author=x", "author"],
    ["filters[$ne]=1", "filters[$ne]"],
    ["__proto__=1", "__proto__"],
  ])("refuses %s", async (query, param) => {
    const api = await openApi(transport);
    const refused = await api.send("GET", `/articles?${query}`);
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ valid: false, param });
  });

  it("shows the newest first, thirty at a time", async () => {
    const api = await filled();
    const { json, headers } = await api.send("GET", "/articles");
    expect(json.map(({ title }: { title: string }) => title)).toEqual(titles.toReversed());
    expect(headers.get("x-total-count")).toBe("7");
    expect(headers.get("content-type")).toBe("application/json");
  });

  it("returns every page once", async () => {
    const api = await filled();
    const seen: string[] = [];
    let next: string | undefined = "/articles?limit=3&sort=title";
    while (next !== undefined) {
      const { json, headers } = await api.send("GET", next);
      seen.push(...json.map(({ title }: { title: string }) => title));
      next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    }
    expect(seen).toHaveLength(7);
    expect(new Set(seen)).toEqual(new Set(titles));
    expect((await api.send("GET", "/articles?page=4&limit=3")).json).toEqual([]);
  });

  it.each([
    ["arvore", ["Árvore"]],
    ["BANA", ["banana"]],
    ["pie cherry", ["Cherry pie"]],
    ["cherry date", []],
    ["ana", ["banana"]],
    ["an", []],
    ["pi", ["Cherry pie"]],
    ["about", titles.toReversed()],
    ["%25", []],
    ['"', []],
    ["*", []],
    ["a* OR b", []],
  ])("finds by words and parts of words: %s", async (q, expected) => {
    const api = await filled();
    const { json, headers, status } = await api.send("GET", `/articles?q=${q}`);
    expect(status).toBe(200);
    expect(json.map(({ title }: { title: string }) => title)).toEqual(expected);
    expect(headers.get("x-total-count")).toBe(String(expected.length));
  });

  it("shows only the fields that were asked for", async () => {
    const api = await filled();
    const { json } = await api.send("GET", "/articles?fields=title&limit=1");
    expect(json).toEqual([{ id: expect.any(String), title: "grape" }]);
    const without = await api.send("GET", "/articles?fields=-content,-updatedAt&limit=1");
    expect(Object.keys(without.json[0])).toEqual(["id", "title", "createdAt", "author"]);
  });
});

it("the list of articles answers HEAD with the headers of GET and no body", async () => {
  const api = await openApi("socket");
  const [get, head] = [await api.send("GET", "/articles"), await api.send("HEAD", "/articles")];
  expect([head.status, head.json]).toEqual([200, undefined]);
  for (const name of ["content-length", "content-type", "x-total-count", "link"]) {
    expect(head.headers.get(name)).toBe(get.headers.get(name));
  }
});
