import { describe, expect, it } from "vitest";
import { openApi, transports, type TestApi } from "../../../test/api-client.ts";

const path = "/articles";

/** What is sent to create one; each number makes another one. */
function example(number: number) {
  return { title: `Some title ${number}`, content: `Some content ${number}` };
}

/** Tokens of who may do what. */
async function tokensOf(api: TestApi) {
  const { token: user } = await api.join("user@example.com");
  return { list: undefined, show: undefined, create: user, update: user, remove: user };
}

describe.each(transports)("articles (%s)", (transport) => {
  it("are created, shown, changed and deleted", async () => {
    const api = await openApi(transport);
    const tokens = await tokensOf(api);
    const sent = { json: example(1), token: tokens.create };
    const created = await api.send("POST", path, sent);
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject(example(1));
    const one = `${path}/${created.json.id}`;
    expect(created.headers.get("location")).toBe(one);
    expect((await api.send("GET", one, { token: tokens.show })).json).toMatchObject(example(1));
    for (const [method, number] of [
      ["PUT", 2],
      ["PATCH", 3],
    ] as const) {
      const wanted = { title: example(number).title };
      const change = { json: wanted, token: tokens.update };
      const { status, json } = await api.send(method, one, change);
      expect([status, json]).toMatchObject([200, { ...example(1), ...wanted }]);
    }
    expect((await api.send("DELETE", one, { token: tokens.remove })).status).toBe(204);
    expect((await api.send("GET", one, { token: tokens.show })).status).toBe(404);
  });

  it.each([
    [{ title: undefined }, "title"],
    [{ title: 7 }, "title"],
    [{ content: 7 }, "content"],
  ])("are refused with the field that is wrong: %j", async (wrong, param) => {
    const api = await openApi(transport);
    const tokens = await tokensOf(api);
    const json = { ...example(1), ...wrong };
    const refused = await api.send("POST", path, { json, token: tokens.create });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ valid: false, param });
  });

  it("are kept from who may not", async () => {
    const api = await openApi(transport);
    const tokens = await tokensOf(api);
    const sent = { json: example(1), token: tokens.create };
    const { json: created } = await api.send("POST", path, sent);
    const one = `${path}/${created.id}`;
    for (const [method, address, json] of [
      ["POST", path, example(2)],
      ["PUT", one, example(2)],
      ["PATCH", one, example(2)],
      ["DELETE", one, undefined],
    ] as const) {
      expect((await api.send(method, address, { json })).status).toBe(401);
    }
    const { token } = await api.join("other@example.com");
    for (const [method, address, json] of [
      ["PUT", one, example(2)],
      ["PATCH", one, example(2)],
      ["DELETE", one, undefined],
    ] as const) {
      expect((await api.send(method, address, { json, token })).status).toBe(403);
    }
  });

  it("are listed page by page, the newest first", async () => {
    const api = await openApi(transport);
    const tokens = await tokensOf(api);
    const ids: string[] = [];
    for (const number of [1, 2, 3]) {
      const sent = { json: example(number), token: tokens.create };
      ids.unshift((await api.send("POST", path, sent)).json.id);
    }
    const { headers, json } = await api.send("GET", `${path}?limit=2`, { token: tokens.list });
    expect(json.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(headers.get("x-total-count")).toBe("3");
    expect(headers.get("link")).toContain('rel="next"');
    const refused = await api.send("GET", `${path}?limit=0`, { token: tokens.list });
    expect([refused.status, refused.json.param]).toEqual([400, "limit"]);
  });

  it("are found by their words", async () => {
    const api = await openApi(transport);
    const tokens = await tokensOf(api);
    const sent = { json: example(1), token: tokens.create };
    await api.send("POST", path, sent);
    for (const [q, found] of [
      ["some", "1"],
      ["another", "0"],
    ] as const) {
      const { headers } = await api.send("GET", `${path}?q=${q}`, { token: tokens.list });
      expect(headers.get("x-total-count")).toBe(found);
    }
  });
});
