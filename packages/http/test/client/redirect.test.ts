import fc from "fast-check";
import { Client, json, mockTransport, type ClientOptions, type Handler } from "@fetchwork/http";
import { describe, expect, it } from "vitest";

const start = "http://a.test/start";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Sends each path on to where the table says, and notes what arrives. */
function follow(
  table: Readonly<Record<string, readonly [status: number, location: string]>>,
  options: ClientOptions = {},
): { readonly client: Client; readonly seen: Seen[] } {
  const seen: Seen[] = [];
  const handler: Handler = async (request) => {
    const { method, url } = request;
    seen.push({
      method,
      url,
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
    });
    const next = table[new URL(url).pathname];
    if (next === undefined) return json({ done: true });
    return new Response("moved", { status: next[0], headers: { location: next[1] } });
  };
  return { client: new Client({ transport: mockTransport(handler), ...options }), seen };
}

const secrets = {
  authorization: "Bearer t",
  cookie: "a=1",
  "proxy-authorization": "Basic x",
  "x-api-key": "k",
  "x-auth-token": "t",
  "x-mine": "m",
  host: "a.test",
  accept: "text/plain",
};

describe("credentials", () => {
  it.each([
    ["another host", "http://b.test/end"],
    ["a subdomain", "http://sub.a.test/end"],
    ["another port", "http://a.test:8080/end"],
    ["https", "https://a.test/end"],
    ["a host without a scheme", "//b.test/end"],
    ["a URL with other user information", "http://me:pw@b.test/end"],
  ])("do not go to %s", async (_, location) => {
    const { client, seen } = follow(
      { "/start": [302, location] },
      { redirect: { credentials: ["X-Mine"] } },
    );
    await client.send({ baseUrl: start, headers: secrets });
    expect(seen[1]?.headers).toEqual({ accept: "text/plain", "user-agent": "fetchwork" });
    expect(seen[1]?.url).not.toContain("pw");
  });

  it("do not go from https to http", async () => {
    const { client, seen } = follow({ "/start": [307, "http://a.test/end"] });
    await client.send({ baseUrl: "https://user:pw@a.test/start" });
    expect(seen[0]?.headers).toHaveProperty("authorization");
    expect(seen[1]?.headers).not.toHaveProperty("authorization");
  });

  it("do not come back on a later hop", async () => {
    const { client, seen } = follow({
      "/start": [302, "http://b.test/back"],
      "/back": [302, "http://a.test/end"],
    });
    await client.send({ baseUrl: start, headers: secrets });
    expect(seen[2]?.url).toBe("http://a.test/end");
    expect(seen[2]?.headers).not.toHaveProperty("authorization");
  });

  it("are not meant by an Idempotency-Key, which goes to another origin", async () => {
    const { client, seen } = follow({ "/start": [307, "http://b.test/end"] });
    const headers = { "idempotency-key": "one" };
    await client.send({ baseUrl: start, method: "POST", headers, body: "x" });
    expect(seen[1]).toMatchObject({ url: "http://b.test/end", method: "POST", headers });
  });

  it("go along within the origin", async () => {
    const { client, seen } = follow({ "/start": [302, "/end?x=1"] });
    await client.send({ baseUrl: start, headers: secrets });
    expect(seen[1]).toMatchObject({ url: "http://a.test/end?x=1", headers: secrets });
  });

  it("reach only the origin that they were sent to, whatever the places are", async () => {
    const origin = fc.constantFrom(
      "http://a.test",
      "https://a.test",
      "http://b.test",
      "http://a.test:81",
    );
    const hops = fc.array(fc.tuple(fc.constantFrom(301, 302, 303, 307, 308), origin), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(hops, async (chain) => {
        const table = Object.fromEntries(
          chain.map(([status, to], index) => [
            index === 0 ? "/start" : `/${index}`,
            [status, `${to}/${index + 1}`] as const,
          ]),
        );
        const { client, seen } = follow(table);
        await client.send({ method: "POST", baseUrl: start, headers: secrets, body: "b" });
        let isHome = true;
        for (const { url, headers } of seen) {
          isHome &&= new URL(url).origin === "http://a.test";
          expect("authorization" in headers).toBe(isHome);
          expect("cookie" in headers).toBe(isHome);
        }
      }),
    );
  });
});

describe("the method", () => {
  it.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [302, "PUT", "GET", ""],
    [303, "DELETE", "GET", ""],
    [302, "HEAD", "HEAD", ""],
    [303, "QUERY", "GET", ""],
    [301, "QUERY", "QUERY", '{"a":1}'],
    [302, "query", "QUERY", '{"a":1}'],
    [307, "POST", "POST", '{"a":1}'],
    [308, "PATCH", "PATCH", '{"a":1}'],
  ])("after %i of %s is %s", async (status, method, expected, body) => {
    const { client, seen } = follow({ "/start": [status, "/end"] });
    const headers = { "content-encoding": "identity", "content-language": "en" };
    await client.send({ method, baseUrl: start, headers, body: { a: 1 } });
    expect(seen[1]).toMatchObject({ method: expected, body });
    const described = Object.keys(seen[1]?.headers ?? {}).filter((name) =>
      name.startsWith("content-"),
    );
    expect(described).toHaveLength(body === "" ? 0 : 3);
  });
});

describe("a redirect", () => {
  it.each([300, 304, 305, 306])("is not a status of %i", async (status) => {
    const { client, seen } = follow({ "/start": [status, "/end"] });
    const transport = mockTransport(
      () => new Response(null, { status, headers: { location: "/end" } }),
    );
    const response = await client.extend({ transport }).send({ baseUrl: start });
    expect(response.statusCode).toBe(status);
    expect(seen).toEqual([]);
  });

  it("without a Location is the response", async () => {
    const client = new Client({
      transport: mockTransport(() => new Response("x", { status: 302 })),
    });
    expect((await client.send({ baseUrl: start })).body).toBe("x");
  });

  it("is handed back with redirect: false", async () => {
    const { client } = follow({ "/start": [302, "/end"] });
    const response = await client.send({ baseUrl: start }, { redirect: false });
    expect([response.statusCode, response.header("location")]).toEqual([302, "/end"]);
  });

  it.each([
    ["ftp://a.test/"],
    ["javascript:alert(1)"],
    ["file:///etc/passwd"],
    ["http://"],
    ["http://[::1"],
  ])("to %s is an error", async (location) => {
    const { client, seen } = follow({ "/start": [302, location] });
    await expect(client.send({ baseUrl: start })).rejects.toMatchObject({
      name: "RedirectError",
      code: "ERR_HTTP_REDIRECT",
    });
    expect(seen).toHaveLength(1);
  });

  it("reads a Location in UTF-8", async () => {
    const { client, seen } = follow({ "/start": [302, "/\xc3\xbc"] });
    await client.send({ baseUrl: start });
    expect(seen[1]?.url).toBe("http://a.test/%C3%BC");
  });

  it("with 307 repeats a form, and not a stream", async () => {
    const { client, seen } = follow({ "/start": [307, "/end"] });
    const form = new FormData();
    form.append("a", "1");
    await client.send({ method: "POST", baseUrl: start, body: form });
    expect(seen[1]?.body).toBe(seen[0]?.body);
    expect(seen[1]?.body).toContain('name="a"');
    const body = new Blob(["x"]).stream();
    await expect(client.send({ method: "POST", baseUrl: start, body })).rejects.toMatchObject({
      code: "ERR_HTTP_REDIRECT",
    });
  });

  it("that leads in a circle ends after 10, or what the caller says", async () => {
    const { client, seen } = follow({ "/start": [302, "/start"] });
    await expect(client.send({ baseUrl: start })).rejects.toMatchObject({ name: "RedirectError" });
    expect(seen).toHaveLength(11);
    await expect(client.send({ baseUrl: start }, { redirect: 2 })).rejects.toThrow(
      "more than 2 redirects",
    );
    expect(seen).toHaveLength(14);
    await expect(client.send({ baseUrl: start }, { redirect: { max: 0 } })).rejects.toThrow();
    expect(seen).toHaveLength(15);
  });

  it("of a stream lets go of the body that nobody reads", async () => {
    let cancelled = 0;
    const client = new Client({
      transport: mockTransport(({ url }) =>
        url.endsWith("/end")
          ? new Response("end")
          : new Response(new ReadableStream({ cancel: () => void (cancelled += 1) }), {
              status: 302,
              headers: { location: "/end" },
            }),
      ),
    });
    const { body } = await client.stream({ baseUrl: start });
    expect(await new Response(body).text()).toBe("end");
    expect(cancelled).toBe(1);
  });
});
