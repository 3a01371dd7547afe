import fc from "fast-check";
import {
  Client,
  json,
  mockTransport,
  text,
  type ClientLogRecord,
  type ClientLoggerOptions,
  type Handler,
} from "@fetchwork/http";
import { afterEach, describe, expect, it, vi } from "vitest";

afterEach(() => vi.restoreAllMocks());

function logging(
  handler: Handler,
  options: ClientLoggerOptions = {},
): { readonly client: Client; readonly records: ClientLogRecord[] } {
  const records: ClientLogRecord[] = [];
  const sink = (record: ClientLogRecord): void => void records.push(record);
  const client = new Client({ transport: mockTransport(handler), logger: { sink, ...options } });
  return { client, records };
}

describe("the log", () => {
  it("has a record for a request and one for its response", async () => {
    const { client, records } = logging(() => text("ok", { status: 201 }));
    await client.send({ method: "PUT", baseUrl: "http://h/x?page=2", body: { a: 1 } });
    expect(records).toEqual([
      {
        event: "request",
        id: 1,
        time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        method: "PUT",
        url: "http://h/x?page=2",
        attempt: 1,
        headers: { "content-type": "application/json", "user-agent": "fetchwork" },
      },
      {
        event: "response",
        id: 1,
        time: expect.any(String) as string,
        method: "PUT",
        url: "http://h/x?page=2",
        attempt: 1,
        status: 201,
        duration: expect.any(Number) as number,
        headers: expect.objectContaining({ "content-type": "text/plain;charset=UTF-8" }) as object,
      },
    ]);
  });

  it("numbers attempts and redirects, and says what went wrong", async () => {
    let requests = 0;
    const { client, records } = logging(() => {
      requests += 1;
      if (requests === 1) throw new Error("down: hunter2");
      return requests === 2
        ? new Response(null, { status: 302, headers: { location: "/y" } })
        : text("");
    });
    await client.send({ baseUrl: "http://h/x" }, { retry: { baseDelay: 0 } });
    expect(
      records.map(({ event, id, attempt, status, error }) => [event, id, attempt, status ?? error]),
    ).toEqual([
      ["request", 1, 1, undefined],
      ["error", 1, 1, expect.stringMatching(/^ERR_HTTP_CONNECTION: GET http:\/\/h\/x: /)],
      ["request", 2, 2, undefined],
      ["response", 2, 2, 302],
      ["request", 3, 2, undefined],
      ["response", 3, 2, 200],
    ]);
    expect(JSON.stringify(records)).not.toContain("hunter2");
  });

  it("goes to the console as lines of JSON", async () => {
    const log = vi.spyOn(console, "log").mockReturnValue(undefined);
    const client = new Client({ transport: mockTransport(() => text("")), logger: true });
    await client.send({ baseUrl: "http://h/", headers: { "x-a": "1" } });
    expect(JSON.parse(String(log.mock.calls[0]?.[0]))).toMatchObject({
      event: "request",
      url: "http://h/",
    });
    expect(String(log.mock.calls[0]?.[0])).not.toContain("\n");
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("disk full");
      },
    ],
    ["rejects", () => Promise.reject(new Error("disk full"))],
  ])("that %s does not fail the request", async (_, sink) => {
    const { client } = logging(() => text("ok"), { sink });
    expect((await client.send({ baseUrl: "http://h/" })).body).toBe("ok");
  });

  it("can be taken away again", async () => {
    const { client, records } = logging(() => text("ok"));
    await client.extend({ logger: false }).send({ baseUrl: "http://h/" });
    expect(records).toEqual([]);
  });
});

describe("bodies", () => {
  it("are not logged unless somebody asks", async () => {
    const { client, records } = logging(() => text("hunter2"));
    await client.send({ method: "POST", baseUrl: "http://h/", body: "hunter2" });
    expect(JSON.stringify(records)).not.toContain("hunter2");
  });

  it("are cut, and have no secret fields", async () => {
    const { client, records } = logging(
      () =>
        json({ user: "ada", access_token: "hunter2", nested: [{ "client-secret": "hunter2" }] }),
      { bodies: 60 },
    );
    const form = new URLSearchParams({ user: "ada", password: "hunter2" });
    await client.send({ method: "POST", baseUrl: "http://h/", body: form });
    expect(records[0]?.body).toBe("user=ada&password=***");
    expect(records[1]?.body).toBe('{"user":"ada","access_token":"***","nested":[{"client-secret…');
  });

  it.each([
    [
      "broken JSON",
      new Response('{"token":"hunter2"', { headers: { "content-type": "application/json" } }),
    ],
    ["bytes", new Response("hunter2", { headers: { "content-type": "image/png" } })],
  ])("that are %s are counted only", async (_, response) => {
    const { client, records } = logging(() => response, { bodies: 100 });
    await client.send({ baseUrl: "http://h/" });
    expect(records[1]?.body).toMatch(/^\[\d+ characters/);
  });

  it("of text are logged", async () => {
    const { client, records } = logging(() => text("hello"), { bodies: 100 });
    await client.send({ baseUrl: "http://h/" });
    expect(records[1]?.body).toBe("hello");
  });
});

describe("secrets", () => {
  const canary = "hunter2-canary";
  const everywhere: Handler = (request) =>
    json(
      { token: canary, deep: { refresh_token: canary, API_KEY: canary } },
      {
        status: new URL(request.url).pathname === "/" ? 302 : 200,
        headers: {
          location: `http://me:${canary}@h/next?code=${canary}&access_token=${canary}#id_token=${canary}`,
          "set-cookie": `sid=${canary}`,
          "www-authenticate": "Bearer",
          "x-csrf-token": canary,
          link: `<http://h/?sig=${canary}>; rel="next"`,
        },
      },
    );

  it("stand in no record", async () => {
    const { client, records } = logging(everywhere, {
      bodies: 10_000,
      maskedHeaders: ["X-Tenant"],
    });
    await client.send({
      method: "POST",
      baseUrl: `http://user:${canary}@h/?api_key=${canary}&X-Amz-Signature=${canary}&user%5Bpassword%5D=${canary}#${canary}`,
      headers: {
        Cookie: `a=${canary}`,
        "Proxy-Authorization": canary,
        "X-Api-Key": canary,
        "X-Auth-Token": canary,
        "X-Tenant": canary,
        "X-Goog-Api-Key": canary,
      },
      body: { password: canary, list: [{ secret: canary }] },
    });
    expect(records).toHaveLength(4);
    expect(JSON.stringify(records)).not.toContain(canary);
    expect(records[0]?.headers).toMatchObject({ authorization: "***", cookie: "***" });
    expect(records[0]?.url).toBe(
      "http://h/?api_key=***&X-Amz-Signature=***&user%5Bpassword%5D=***",
    );
  });

  it("of OAuth are codes of a URL or a form, but not the member `code` of JSON", async () => {
    const { client, records } = logging(
      () => json({ code: "invalid_date" }, { headers: { location: "/next?code=hunter2" } }),
      { bodies: 100 },
    );
    const body = new URLSearchParams({ code: "hunter2" });
    await client.send({ method: "POST", baseUrl: "http://h/?code=hunter2", body });
    expect(JSON.stringify(records)).not.toContain("hunter2");
    expect(records[1]?.body).toBe('{"code":"invalid_date"}');
  });

  it("of each URL in a header are masked", async () => {
    const link =
      '<http://h/?page=2&token=hunter2>; rel="next", <http://u:hunter2@h/?a=1,2&sig=hunter2>';
    const { client, records } = logging(() => text("", { headers: { link } }));
    await client.send({ baseUrl: "http://h/" });
    expect(records[1]?.headers?.["link"]).toBe(
      '<http://h/?page=2&token=***>; rel="next", <http://***@h/?a=1,2&sig=***>',
    );
  });

  it("of a query are masked wherever they stand in it", async () => {
    const { client, records } = logging(() => text(""));
    const names = fc.constantFrom(
      "token",
      "TOKEN",
      "access%5Ftoken",
      "a%5Bpassword%5D",
      "x-api-key",
      "code",
    );
    const noise = fc.array(fc.constantFrom("a=1", "&", ";", "b", "=", "%"), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(noise, names, noise, async (before, name, after) => {
        await client.send({
          baseUrl: `http://h/?${before.join("")}&${name}=${canary}&${after.join("")}`,
        });
        expect(JSON.stringify(records.splice(0))).not.toContain(canary);
      }),
    );
  });
});
