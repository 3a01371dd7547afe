import { request } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { masterKey, openApi, transports, type TestApi } from "./api-client.ts";

const access_token = masterKey;
const email = "ada@example.com";
const hiddenFields = /argon2|passwordHash|sessionVersion|"author"/;

/** Fields that the API sets itself. */
const foreign = {
  id: "mine",
  _id: "mine",
  role: "admin",
  author: "somebody",
  owner: "somebody",
  createdAt: "2000-01-01T00:00:00.000Z",
  updatedAt: "2000-01-01T00:00:00.000Z",
  deletedAt: "2000-01-01T00:00:00.000Z",
  version: 99,
  passwordHash: "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
  sessionVersion: 99,
  constructor: { prototype: { role: "admin" } },
};

describe.each(transports)("fields that nobody may send (%s)", (transport) => {
  it("change nothing of an article, no matter who sends them", async () => {
    const api = await openApi(transport);
    const ada = await api.join(email);
    const bob = await api.join("bob@example.com");
    const json = { title: "Mine", ...foreign };
    const created = await api.send("POST", "/articles", { token: ada.token, json });
    expect(created.status).toBe(201);
    const { id } = created.json;
    expect(id).not.toBe("mine");
    for (const method of ["PUT", "PATCH"]) {
      const changed = await api.send(method, `/articles/${id}`, { token: ada.token, json });
      expect(changed.status).toBe(200);
      expect(Object.keys(changed.json)).toEqual(Object.keys(created.json));
      expect(changed.json).toMatchObject({ id, title: "Mine", createdAt: created.json.createdAt });
      expect(changed.json.updatedAt).not.toBe(foreign.updatedAt);
    }
    const stolen = await api.send("PUT", `/articles/${id}`, { token: bob.token, json });
    expect(stolen.status).toBe(403);
    const shown = await api.send("GET", `/articles/${id}`);
    expect(shown.headers.get("etag")).toMatch(/^"3~/);
    expect(shown.json.author.id).toBe(ada.id);
  });

  it("change nothing of a user but name and picture", async () => {
    const api = await openApi(transport);
    const ada = await api.join(email);
    for (const method of ["PUT", "PATCH"]) {
      const json = { name: "Ada", ...foreign, email: "root@example.com", password: "abcdef" };
      const changed = await api.send(method, "/users/me", { token: ada.token, json });
      expect(changed.status).toBe(200);
      expect(changed.json).toMatchObject({ id: ada.id, email, role: "user", name: "Ada" });
    }
    const session = { basic: [email, "123456"] as const, form: { access_token } };
    expect((await api.send("POST", "/auth", session)).status).toBe(201);
    expect((await api.send("GET", "/users/me", { token: ada.token })).status).toBe(200);
  });

  it("change nothing of a new user but its role, which the master key may choose", async () => {
    const api = await openApi(transport);
    const json = { ...foreign, role: "user", email, password: "123456", access_token };
    const created = await api.send("POST", "/users", { json });
    expect(created.status).toBe(201);
    expect(created.json.id).not.toBe("mine");
    expect(created.json.createdAt).not.toBe(foreign.createdAt);
    const session = { basic: [email, "123456"] as const, form: { access_token } };
    const { token } = (await api.send("POST", "/auth", session)).json;
    const claims = JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString());
    expect(claims.sv).toBe(1);
  });
});

describe.each(transports)("parameters of lists (%s)", (transport) => {
  it.each([
    "sort=passwordHash",
    "sort=-sessionVersion",
    "sort=author",
    "fields=passwordHash",
    "fields=-passwordHash",
    "fields=id,sessionVersion",
    "passwordHash=x",
    "passwordHash[gt]=a",
    "filter[passwordHash]=x",
    "where={}",
    "populate=author",
    "expand=author",
    "q[$ne]=x",
    "q=a&q=b",
    "limit=1&limit=100",
    "limit=101",
    "limit=-1",
    "page=0",
    "page=1.5",
    "sort=__proto__",
    "fields=__proto__",
    "fields=constructor",
    "__proto__=x",
    "constructor=x",
  ])("that tell about other fields, or are none, are refused: %s", async (query) => {
    const api = await openApi(transport);
    const ada = await api.join(email);
    const root = await api.join("root@example.com", "admin");
    await api.send("POST", "/articles", { token: ada.token, json: { title: "t" } });
    for (const path of [`/users?${query}`, `/articles?${query}`]) {
      const refused = await api.send("GET", path, { token: root.token });
      expect(refused.json).toMatchObject({ status: 400, valid: false });
      expect(JSON.stringify(refused.json)).not.toMatch(/argon2|\$2/);
    }
  });

  it("find nobody by what is hidden", async () => {
    const api = await openApi(transport);
    const ada = await api.join(email);
    const root = await api.join("root@example.com", "admin");
    await api.send("POST", "/articles", { token: ada.token, json: { title: "t" } });
    for (const path of ["/users?q=argon2id", `/articles?q=${ada.id}`]) {
      const found = await api.send("GET", path, { token: root.token });
      expect([found.status, found.json]).toEqual([200, []]);
    }
    const all = await api.send("GET", "/users", { token: root.token });
    expect(JSON.stringify(all.json)).not.toMatch(hiddenFields);
  });
});

describe("identifiers", () => {
  it.each([
    "none",
    "0",
    "-1",
    "__proto__",
    "constructor",
    "..%2fusers",
    "%2e%2e%2f%2e%2e",
    "%ff",
    "%E0%A4%A",
    "1' OR '1'='1",
    "1%20UNION%20SELECT%201",
    "%24ne",
    "a".repeat(2_000),
    "\u{1f600}",
  ])("that nothing has answer 404 for everybody who may look: %s", async (id) => {
    const api = await openApi();
    const ada = await api.join(email);
    for (const [method, path] of [
      ["GET", `/articles/${id}`],
      ["PUT", `/articles/${id}`],
      ["DELETE", `/articles/${id}`],
      ["GET", `/users/${id}`],
    ] as const) {
      const sending = method === "PUT" ? { json: { title: "t" } } : {};
      const { status } = await api.send(method, path, { token: ada.token, ...sending });
      expect([method, status]).toEqual([method, 404]);
    }
  });
});

describe.each(transports)("bodies that mean two things (%s)", (transport) => {
  it.each([
    ["title=a&title=b"],
    ["title=a&a[b]=c"],
    ["title=a&content[]=b"],
    ["title[$ne]=a"],
    ["title=a&__proto__=b"],
    ["title=a&__proto__[role]=admin"],
    ["title=a&constructor[prototype][role]=admin"],
  ])("are refused as a form: %s", async (form) => {
    const api = await openApi(transport);
    const { token } = await api.join(email);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const refused = await api.send("POST", "/articles", { token, body: form, headers });
    expect(refused.json).toMatchObject({ status: 400, valid: false });
    expect((await api.send("GET", "/articles")).json).toEqual([]);
  });

  it.each([
    '{"title":"a","__proto__":{"role":"admin"}}',
    '{"title":"a","content":"b","x":{"__proto__":{"role":"admin"}}}',
    String.raw`{"title":"a","\u005f_proto\u005f_":{"role":"admin"}}`,
    '{"title":{"$ne":null}}',
    '{"title":["a"]}',
    '{"title":true}',
    "[]",
    '[{"title":"a"}]',
    '"title"',
    "null",
    '{"title":"a"} {"title":"b"}',
    '{"title":"a",}',
    "{'title':'a'}",
    '{"title":NaN}',
    "[".repeat(50_000),
    `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  ])("are refused as JSON: %.60s", async (body) => {
    const api = await openApi(transport);
    const { token } = await api.join(email);
    const headers = { "content-type": "application/json" };
    const refused = await api.send("POST", "/articles", { token, body, headers });
    expect(refused.status).toBe(400);
    expect((await api.send("GET", "/articles")).json).toEqual([]);
    expect(({} as Record<string, unknown>)["role"]).toBeUndefined();
  });
});

describe("bombs", () => {
  async function refusals(
    bodies: readonly (readonly [type: string, body: BodyInit, more?: Record<string, string>])[],
  ): Promise<readonly number[]> {
    const api = await openApi("socket");
    const { token } = await api.join(email);
    const statuses: number[] = [];
    for (const [type, body, more] of bodies) {
      const headers = { "content-type": type, ...more };
      statuses.push((await api.send("POST", "/articles", { token, body, headers })).status);
    }
    expect((await api.send("GET", "/articles")).json).toEqual([]);
    return statuses;
  }

  it("of compressed bodies are refused unread", async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000, " "));
    expect(
      await refusals([
        ["application/json", bomb, { "content-encoding": "gzip" }],
        ["application/json", bomb, { "content-encoding": "x-gzip" }],
        ["application/x-www-form-urlencoded", bomb, { "content-encoding": "gzip, gzip" }],
        ["multipart/form-data; boundary=b", bomb, { "content-encoding": "deflate" }],
      ]),
    ).toEqual([415, 415, 415, 415]);
  });

  it("of many parts, deep boundaries and long names are refused", async () => {
    const part = '--b\r\ncontent-disposition: form-data; name="title"\r\n\r\na\r\n';
    const nested = "--b\r\ncontent-type: multipart/mixed; boundary=b\r\n\r\n".repeat(1_500);
    const file =
      '--b\r\ncontent-disposition: form-data; name="title"; filename="a"\r\n\r\na\r\n--b--\r\n';
    const type = "multipart/form-data; boundary=b";
    expect(
      await refusals([
        [type, `${part.repeat(10_000)}--b--\r\n`],
        [type, `${part.repeat(1_500)}--b--\r\n`],
        [type, nested],
        [type, file],
        [`multipart/form-data; boundary=${"b".repeat(1_000)}`, part],
        ["multipart/form-data", part],
      ]),
    ).toEqual([413, 400, 400, 400, 400, 400]);
  });

  it("of many fields and of large ones are refused", async () => {
    const fields = Array.from({ length: 30_000 }, (_, index) => `${index}=`).join("&");
    expect(
      await refusals([
        ["application/x-www-form-urlencoded", fields],
        ["application/json", JSON.stringify({ title: "a".repeat(200_000) })],
        ["text/plain", "title=a"],
      ]),
    ).toEqual([413, 413, 415]);
  });

  it.each([
    [
      "a header of a megabyte",
      `GET /articles HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(1_000_000)}\r\n\r\n`,
    ],
    [
      "a megabyte of headers",
      `GET /articles HTTP/1.1\r\nHost: x\r\n${"X-A: a\r\n".repeat(130_000)}\r\n`,
    ],
    ["a path of a megabyte", `GET /${"a".repeat(1_000_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    [
      "two lengths",
      "POST /articles HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\naa",
    ],
    [
      "a length and chunks",
      "POST /articles HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["no HTTP", "hello\r\n\r\n"],
  ])("of %s are refused with a clear answer", async (_what, bytes) => {
    const api = await openApi("socket");
    const origin = await originOf(api);
    const answer = await sendRaw(origin, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(await isUp(origin)).toBe(200);
  });
});

async function originOf(api: TestApi): Promise<URL> {
  const { headers, json } = await api.send("GET", "/openapi.json");
  expect(headers.get("content-type")).toContain("json");
  expect(json.openapi).toMatch(/^3\.2/);
  return new URL(api.origin);
}

function sendRaw({ hostname, port }: URL, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
    // What the server does not read any more, it resets.
    socket.on("error", () => undefined).on("close", () => resolve(answer));
  });
}

function isUp(origin: URL): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(new URL("/ping", origin), (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}
