import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import fc from "fast-check";
import {
  AccessToken,
  OAuth2Client,
  OAuth2Error,
  OAuth2UsageError,
  type OAuth2ClientOptions,
  type ResourceRequestOptions,
} from "../../src/index.ts";
import {
  json,
  startScriptedServer,
  type ScriptedServer,
  type SeenRequest,
} from "../scripted-server.ts";

const seen: SeenRequest[] = [];
let server: ScriptedServer;
let other: ScriptedServer;
beforeEach(async () => {
  seen.length = 0;
  server = await startScriptedServer("BASE", seen);
  other = await startScriptedServer("BASE2", seen);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

function tokenOf(
  options: OAuth2ClientOptions = {},
  hash: Record<string, unknown> = {},
): AccessToken {
  const client = new OAuth2Client("id", "secret", { site: server.origin, ...options });
  return AccessToken.fromHash(client, { access_token: "T", ...hash });
}

const usage = (code: string): unknown =>
  expect.objectContaining({ name: "OAuth2UsageError", code });

describe("targets", () => {
  const tricks = [
    "//evil.example/x",
    "\\\\evil.example/x",
    "/\\evil.example/x",
    "\\/evil.example/x",
    "/\t/evil.example/x",
    "\t//evil.example",
    "/\n/evil.example",
    " //evil.example/x",
    "///evil.example",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://user:pass@evil.example/",
    "http:evil.example",
    "ht\ntp://evil.example",
    " http://[",
    " http://evil.example/x",
  ];
  it.each(tricks)("refuses %j before anything is sent", async (path) => {
    await expect(tokenOf().get(path)).rejects.toEqual(usage("ERR_OAUTH_TARGET"));
    expect(seen).toEqual([]);
  });

  it("never leaves the host of the site with anything but a whole http URL", () => {
    const client = new OAuth2Client("id", null, { site: "https://api.example.com/v1?x=1" });
    const piece = fc.constantFrom(
      "/",
      "\\",
      "@",
      ":",
      ".",
      "..",
      "evil.com",
      "#",
      "?",
      "\t",
      "\n",
      " ",
      "%2f",
      "a",
      "//",
    );
    const paths = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.array(piece).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(paths, (path) => {
        let url: URL;
        try {
          url = client.resolve(path);
        } catch (error) {
          expect(error).toBeInstanceOf(OAuth2UsageError);
          return;
        }
        if (!/^https?:\/\//i.test(path)) expect(url.origin).toBe("https://api.example.com");
        expect(url.username + url.password).toBe("");
      }),
      { numRuns: 3000 },
    );
  });

  it("lets absolute URLs through, unless allowedOrigins narrows them", async () => {
    await tokenOf().get(`${other.origin}/x`);
    expect(seen).toMatchObject([{ host: "BASE2", headers: { authorization: "Bearer T" } }]);
    for (const allowedOrigins of [
      "site",
      [server.origin],
      (url: URL) => url.origin === server.origin,
    ] as const) {
      const token = tokenOf({ allowedOrigins });
      await expect(token.get(`${other.origin}/x`)).rejects.toEqual(usage("ERR_OAUTH_TARGET"));
      await token.get("/fine");
    }
    expect(seen.filter(({ host }) => host === "BASE2")).toHaveLength(1);
  });

  it("checks where a redirect leads as well", async () => {
    server.script = [{ status: 302, headers: { location: `${other.origin}/x` }, body: "" }];
    await expect(tokenOf({ allowedOrigins: "site" }).get("/r")).rejects.toEqual(
      usage("ERR_OAUTH_TARGET"),
    );
    expect(seen).toHaveLength(1);
  });

  it.each(["https://e.org/path", "e.org", "ftp://e.org", "", 1])(
    "refuses %j among allowedOrigins",
    (origin) => {
      const options = { allowedOrigins: [origin] };
      expect(() => Reflect.construct(OAuth2Client, ["id", null, options])).toThrow(
        expect.objectContaining({ code: "ERR_OAUTH_OPTION" }),
      );
    },
  );

  const resolved = [
    ["https://e.org/a/b", "c", "https://e.org/a/b/c"],
    ["https://e.org/a/b/", "c", "https://e.org/a/b/c"],
    ["https://e.org/a/b", "/c", "https://e.org/c"],
    ["https://e.org/a/b", "../c", "https://e.org/a/c"],
    ["https://e.org/a/b", "", "https://e.org/a/b"],
    ["https://e.org/a/b", "?x=1", "https://e.org/a/b/?x=1"],
    ["https://e.org/a?k=v", "c?x=1", "https://e.org/a/c?k=v&x=1"],
    ["https://e.org/a", "c d/é", "https://e.org/a/c%20d/%C3%A9"],
    ["https://e.org/a", "http://f.org/x#y", "http://f.org/x"],
  ] as const;
  it.each(resolved)("resolves %s and %j to %s", (site, path, url) => {
    expect(new OAuth2Client("id", null, { site }).resolve(path).href).toBe(url);
  });
});

describe("redirects to another origin", () => {
  const secretHeaders = {
    cookie: "a=1",
    "proxy-authorization": "x",
    dpop: "x",
    "x-api-key": "x",
    "x-auth-token": "x",
    "x-plain": "kept",
  };

  it.each(["header", "query"] as const)("carries no credentials (mode %s)", async (mode) => {
    server.script = [{ status: 302, headers: { location: `${other.origin}/x?y=1` }, body: "" }];
    await tokenOf({}, { mode }).get("/r", { headers: secretHeaders, params: { a: "1" } });
    const [, second] = seen;
    expect(second).toMatchObject({ host: "BASE2", target: "/x?y=1" });
    const names = Object.keys(second?.headers ?? {});
    expect(names).toContain("x-plain");
    for (const name of [
      "authorization",
      "cookie",
      "proxy-authorization",
      "dpop",
      "x-api-key",
      "x-auth-token",
    ]) {
      expect(names).not.toContain(name);
    }
  });

  it("carries no credentials that every request has", async () => {
    const back = { status: 302, headers: { location: `${server.origin}/back` }, body: "" };
    server.script = [
      { status: 302, headers: { location: `${other.origin}/x` }, body: "" },
      json({}),
    ];
    other.script = [back];
    const headers = { ...secretHeaders, authorization: "Basic c2VjcmV0" };
    await new OAuth2Client("id", null, {
      site: server.origin,
      connectionOpts: { headers },
    }).request("get", "/r");
    expect(seen.map(({ host }) => host)).toEqual(["BASE", "BASE2", "BASE"]);
    expect(seen[0]?.headers).toMatchObject(headers);
    for (const { headers: sent } of seen.slice(1)) {
      expect(sent["x-plain"]).toBe("kept");
      for (const name of Object.keys(headers).filter((key) => key !== "x-plain")) {
        expect(sent[name]).toBeUndefined();
      }
    }
  });

  it.each([301, 302, 307, 308])("is an error where it would take the body (%d)", async (status) => {
    server.script = [{ status, headers: { location: `${other.origin}/x` }, body: "" }];
    const token = tokenOf({}, { mode: "body" });
    await expect(token.post("/r")).rejects.toMatchObject({ code: "ERR_OAUTH_REDIRECT" });
    await expect(tokenOf().post("/r", { body: { a: 1 } })).rejects.toMatchObject({
      code: "ERR_OAUTH_REDIRECT",
    });
    expect(seen.every(({ host }) => host === "BASE")).toBe(true);
  });

  it("does not add the token again on the way back", async () => {
    server.script = [
      { status: 302, headers: { location: `${other.origin}/x` }, body: "" },
      json({}),
    ];
    other.script = [{ status: 302, headers: { location: `${server.origin}/back` }, body: "" }];
    await tokenOf().get("/r");
    expect(seen.map(({ host, headers }) => [host, headers["authorization"]])).toEqual([
      ["BASE", "Bearer T"],
      ["BASE2", undefined],
      ["BASE", undefined],
    ]);
  });

  it("becomes a GET without a body after a 303", async () => {
    server.script = [{ status: 303, headers: { location: `${other.origin}/x` }, body: "" }];
    await tokenOf({}, { mode: "body" }).post("/r", { body: { a: 1 } });
    expect(seen[1]).toMatchObject({ method: "GET", body: "" });
    expect(seen[1]?.headers["content-type"]).toBeUndefined();
  });
});

describe("redirects on the same origin", () => {
  it("keeps verb, body and token but for a 303", async () => {
    for (const status of [301, 302, 307, 308]) {
      server.script = [{ status, headers: { location: "/b" }, body: "" }, json({})];
      await tokenOf().post("/a", { body: { a: 1 } });
      expect(seen.at(-1)).toMatchObject({
        method: "POST",
        target: "/b",
        body: "a=1",
        headers: { authorization: "Bearer T" },
      });
    }
  });

  it("keeps a token in the query", async () => {
    server.script = [{ status: 302, headers: { location: "/b?x=1" }, body: "" }, json({})];
    await tokenOf({}, { mode: "query" }).get("/a");
    expect(seen[1]?.target).toBe("/b?x=1&access_token=T");
  });
});

describe("modes", () => {
  const token = (mode: unknown): AccessToken => tokenOf({}, { mode });

  it.each(["headers", "", 1, { get: "nowhere" }, null])("refuses the mode %j", (mode) => {
    const client = new OAuth2Client("id", null, { site: server.origin });
    expect(() => Reflect.construct(AccessToken, [client, "T", { mode }])).toThrow(
      expect.objectContaining({ code: "ERR_OAUTH_OPTION" }),
    );
  });

  it("takes a function of the verb, and a map", async () => {
    const byVerb = (verb: string): string => (verb === "get" ? "query" : "body");
    for (const mode of [byVerb, { get: "query", post: "body" }]) {
      seen.length = 0;
      await token(mode).get("/r");
      await token(mode).post("/r");
      expect(seen[0]).toMatchObject({ target: "/r?access_token=T" });
      expect(seen[1]).toMatchObject({ target: "/r", body: "access_token=T" });
    }
    await token({ get: "query" }).put("/r");
    expect(seen.at(-1)?.headers["authorization"]).toBe("Bearer T");
    await token({}).get("/r");
    expect(seen.at(-1)?.headers["authorization"]).toBe("Bearer T");
  });

  it("refuses what a function of the verb returns, before anything is sent", async () => {
    await expect(token(() => "nowhere").get("/r")).rejects.toEqual(usage("ERR_OAUTH_OPTION"));
    await expect(token({ constructor: "query" }).get("/r")).resolves.toMatchObject({ status: 200 });
    expect(seen).toHaveLength(1);
  });

  it("has no body for GET", async () => {
    await expect(token("body").get("/r")).rejects.toEqual(usage("ERR_OAUTH_OPTION"));
    await expect(token("header").get("/r", { body: "x" })).rejects.toEqual(
      usage("ERR_OAUTH_OPTION"),
    );
  });

  it("adds the token to a form, and to nothing else", async () => {
    const form = "application/x-www-form-urlencoded";
    await token("body").post("/r", { body: "a=1", headers: { "content-type": form } });
    await token("body").post("/r", { body: new URLSearchParams({ a: "1" }) });
    expect(seen.map(({ body }) => body)).toEqual(["a=1&access_token=T", "a=1&access_token=T"]);
    for (const body of [new Uint8Array(1), new Blob(["x"]), new FormData()]) {
      await expect(token("body").post("/r", { body })).rejects.toEqual(usage("ERR_OAUTH_OPTION"));
    }
  });

  it("uses header format and parameter name, also with dollar signs in the token", async () => {
    const odd = { access_token: "a$&$1b", header_format: "OAuth %s", param_name: "t" };
    await tokenOf({}, odd).get("/r");
    expect(seen[0]?.headers["authorization"]).toBe("OAuth a$&$1b");
    await tokenOf({}, { ...odd, mode: "query" }).get("/r");
    expect(new URL(seen[1]?.target ?? "", "http://h").searchParams.get("t")).toBe("a$&$1b");
  });

  it.each(["Bearer", "%s %s", "Bearer %s\r\nX: y", 5])(
    "refuses the header format %j",
    (headerFormat) => {
      const client = new OAuth2Client("id");
      expect(() => Reflect.construct(AccessToken, [client, "T", { headerFormat }])).toThrow(
        expect.objectContaining({ code: "ERR_OAUTH_OPTION" }),
      );
    },
  );

  it("does not send a token without a value, nor a bound one without a proof", async () => {
    const client = new OAuth2Client("id", null, { site: server.origin });
    const empty = AccessToken.fromHash(client, { refresh_token: "R" });
    await expect(empty.get("/r")).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN" });
    const bound = tokenOf({}, { token_type: "DPoP" });
    await expect(bound.get("/r")).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN" });
    expect(seen).toEqual([]);
  });
});

describe("bodies", () => {
  it("sends objects as forms, and as JSON where the type or the connection says so", async () => {
    const body = { a: "b c", list: [1, 2], none: null };
    await tokenOf().post("/r", { body });
    await tokenOf().post("/r", { body, headers: { "Content-Type": "application/vnd.api+json" } });
    const client = new OAuth2Client("id", null, { site: server.origin }, (connection) =>
      connection.request("json"),
    );
    await client.request("post", "/r", { body });
    expect(seen[0]).toMatchObject({ body: "a=b%20c&list=1&list=2" });
    expect(seen[1]?.body).toBe(JSON.stringify(body));
    expect(seen[2]).toMatchObject({
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  });

  it("sends text as a form, unless a type is given", async () => {
    await tokenOf().post("/r", { body: "a=1" });
    await tokenOf().put("/r", { body: "" });
    await tokenOf().post("/r", { body: "a=1", headers: { "Content-Type": "text/x" } });
    const form = "application/x-www-form-urlencoded";
    expect(seen.map(({ body, headers }) => [body, headers["content-type"]])).toEqual([
      ["a=1", form],
      ["", form],
      ["a=1", "text/x"],
    ]);
  });

  it("sends text, bytes, blobs and forms with files", async () => {
    const data = new FormData();
    data.set("file", new Blob(["content"]), "name.txt");
    await tokenOf().post("/r", { body: "text" });
    await tokenOf().post("/r", { body: new TextEncoder().encode("bytes") });
    await tokenOf().post("/r", { body: new Blob(["blob"], { type: "text/x" }) });
    await tokenOf().post("/r", { body: data });
    expect(seen.slice(0, 3).map(({ body }) => body)).toEqual(["text", "bytes", "blob"]);
    expect(seen[2]?.headers["content-type"]).toBe("text/x");
    expect(seen[3]?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(seen[3]?.body).toContain('filename="name.txt"');
  });

  it("refuses streams, which it could not send twice", async () => {
    const body = new ReadableStream();
    await expect(tokenOf().post("/r", { body })).rejects.toEqual(usage("ERR_OAUTH_OPTION"));
  });

  const password = "hunter22-in-the-body";
  const data = new FormData();
  data.set("password", password);
  const secretBodies: Readonly<Record<string, ResourceRequestOptions>> = {
    text: { body: `user=ann&password=${password}` },
    "an object": { body: { user: "ann", new_password: password } },
    JSON: {
      body: { user: { name: "ann", passwords: [{ password }] } },
      headers: { "content-type": "application/json" },
    },
    "JSON as bytes": {
      body: new TextEncoder().encode(JSON.stringify({ password: [password] })),
      headers: { "content-type": "application/json" },
    },
    URLSearchParams: { body: new URLSearchParams({ password }) },
    FormData: { body: data },
    "the query": { params: { password } },
  };
  it.each(Object.entries(secretBodies))(
    "never show a secret of %s that the server sends back",
    async (_case, options) => {
      const log: string[] = [];
      const logger = { debug: (line: string) => void log.push(line) };
      const token = tokenOf({ logger, debug: true });
      const text = `the value ${password} is too weak`;
      // The password comes back also after a redirect, whose request has no body.
      server.script = [
        { status: 303, headers: { location: "/e", "x-echo": password }, body: "" },
        json(
          { error: `weak ${password}`, error_description: text, detail: text, code: "E_WEAK" },
          422,
        ),
      ];
      const error: unknown = await token.post("/r", options).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ status: 422, description: text });
      const shown = [String(error), inspect(error), JSON.stringify(error), ...log];
      if (error instanceof OAuth2Error) shown.push(JSON.stringify(error.response));
      expect(shown.join("\n")).toContain("is too weak");
      expect(shown.join("\n")).not.toContain(password);
    },
  );

  it("changes nothing that it was given", async () => {
    const options = Object.freeze({
      body: Object.freeze({ a: 1 }),
      headers: Object.freeze({ "x-a": "1" }),
      params: Object.freeze({ q: "1" }),
    });
    for (const mode of ["header", "query", "body"]) await tokenOf({}, { mode }).post("/r", options);
    expect(options).toEqual({ body: { a: 1 }, headers: { "x-a": "1" }, params: { q: "1" } });
  });
});

describe("errors", () => {
  it("throws for 400 and more, or has the error on the answer", async () => {
    server.script = [json({ error: "invalid_token", error_description: "expired" }, 401)];
    const error: unknown = await tokenOf()
      .get("/r")
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "invalid_token", description: "expired", status: 401 });
    for (const quiet of [
      tokenOf({ raiseErrors: false }).get("/r"),
      tokenOf().get("/r", { raiseErrors: false }),
    ]) {
      expect((await quiet).error).toMatchObject({
        code: "invalid_token",
        response: { status: 401 },
      });
    }
    await expect(
      tokenOf({ raiseErrors: false }).get("/r", { raiseErrors: true }),
    ).rejects.toThrow();
    server.script = [json({})];
    expect((await tokenOf().get("/r")).error).toBeUndefined();
  });

  it.each(["CONNECT", "trace", "", "GET /", "get\r\n"])("refuses the verb %j", async (verb) => {
    await expect(tokenOf().request(verb, "/r")).rejects.toEqual(usage("ERR_OAUTH_OPTION"));
  });

  it("refuses headers that cannot be, without showing them", async () => {
    const bad = tokenOf().get("/r", { headers: { "x-key": "hidden\r\nX: y" } });
    const error: unknown = await bad.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "ERR_OAUTH_OPTION" });
    expect(String(error)).not.toContain("hidden");
  });
});
