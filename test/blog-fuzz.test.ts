import { json, type Handler } from "@fetchwork/http";
import { expect, it, onTestFinished, vi } from "vitest";
import { noPostgres, startPostgres } from "../packages/documents/test/postgres-server.ts";
import { fuzzBlog, type FuzzResult } from "./blog-fuzz/fuzz-blog.ts";

/**
 * `FETCHWORK_FUZZ` is the number of requests to each engine. With it, and in `npm run test:all`,
 * PostgreSQL is one of the engines.
 */
const given = process.env["FETCHWORK_FUZZ"];
const isWhole = given !== undefined || process.env["FETCHWORK_TESTS"] !== undefined;
const count = Number(given ?? (isWhole ? 20_000 : 5_000));
const seed = Number(process.env["FETCHWORK_FUZZ_SEED"] ?? 20_261_126);
const timeout = 600_000;

/**
 * Only an authenticator signs what these take; see packages/rest/test/accounts/passkeys.test.ts.
 */
const byAuthenticators: ReadonlySet<string> = new Set(["registerPasskey", "signInWithPasskey"]);

/** Each operation did what it is for, and each way of refusing a request was seen. */
function expectAllReached({ operations, statuses }: FuzzResult): void {
  const worked = operations.filter((name) =>
    [...(statuses.get(name) ?? [])].some((status) => status < 300),
  );
  expect(worked).toEqual(operations.filter((name) => !byAuthenticators.has(name)));
  const seen = new Set([...statuses.values()].flatMap((some) => [...some]));
  expect([...seen].toSorted((one, other) => one - other)).toEqual([
    200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 429,
  ]);
}

function silenceMails(): void {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
}

it(
  "The blog on SQLite responds to every request as its OpenAPI document says",
  { timeout },
  async () => {
    silenceMails();
    const result = await fuzzBlog({ storeUrl: "sqlite::memory:", seed, count });
    expect(result.faults).toEqual([]);
    expect(result.sent).toBe(count);
    expectAllReached(result);
  },
);

it.skipIf(!isWhole || noPostgres !== undefined)(
  "The blog on PostgreSQL responds to every request as its OpenAPI document says",
  { timeout },
  async () => {
    silenceMails();
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const result = await fuzzBlog({ storeUrl: await server.create(), seed, count });
    expect(result.faults).toEqual([]);
    expect(result.sent).toBe(count);
    expectAllReached(result);
  },
);

/** Faults that are put into responses, and what the fuzz must report. */
const seeded: readonly (readonly [
  name: string,
  change: (response: Response, request: Request) => Promise<Response> | Response,
  report: RegExp,
])[] = [
  [
    "an undeclared status",
    (response, { method, url }) =>
      method === "GET" && /\/articles\/[\w-]{36}$/.test(url) && response.ok
        ? json({}, { status: 203 })
        : response,
    /^showArticle: the response has the undeclared status 203; seed 7, request \d+: .*"method":"GET"/,
  ],
  [
    "a body with a wrong type",
    async (response, { method }) =>
      method === "POST" &&
      response.status === 201 &&
      response.headers.get("location")?.startsWith("/articles") === true
        ? json(
            { ...((await response.json()) as object), title: 7 },
            { status: 201, headers: response.headers },
          )
        : response,
    /^createArticle: the response 201 has a body that does not match: data\/title must be string/,
  ],
  [
    "a field that is not declared",
    async (response, { method, url }) =>
      method === "GET" && /\/articles\/[\w-]{36}$/.test(url) && response.status === 200
        ? json(
            { ...((await response.json()) as object), writer: "ann" },
            { headers: response.headers },
          )
        : response,
    /^showArticle: the response 200 has a body that does not match: .*additional properties/,
  ],
  [
    "a 500",
    (response, { method }) => {
      if (method === "PATCH" && response.status === 404) throw new Error("broken");
      return response;
    },
    /^(?:none|patch\w+): the response has the status 500 \(Error: broken\)/,
  ],
  [
    "a content type that is not declared",
    (response, { method }) =>
      method === "GET" && response.status === 200
        ? new Response(response.body, {
            headers: { ...Object.fromEntries(response.headers), "content-type": "text/html" },
          })
        : response,
    /^listArticles: the response 200 has the undeclared type text\/html/,
  ],
  [
    "a refusal of a valid request",
    (response, { method, url }) =>
      method === "PUT" && url.includes("/articles/") && response.status === 200
        ? json(
            { type: "about:blank", title: "t", status: 400, detail: "d", message: "m" },
            { status: 400, headers: { "content-type": "application/problem+json" } },
          )
        : response,
    /^updateArticle: the response refuses with 400 what is declared valid/,
  ],
  [
    "a missing header",
    (response) => {
      const headers = new Headers(response.headers);
      headers.delete("www-authenticate");
      return new Response(response.body, { status: response.status, headers });
    },
    /: the response 401 lacks the header WWW-Authenticate/,
  ],
];

it.each(seeded)("The fuzz reports %s with the seed and the request", async (_, change, report) => {
  silenceMails();
  const around =
    (handler: Handler): Handler =>
    async (request, context) =>
      change(await handler(request, context), request);
  const { faults } = await fuzzBlog({ storeUrl: "sqlite::memory:", seed: 7, count: 1_200, around });
  expect(faults).toEqual(expect.arrayContaining([expect.stringMatching(report)]));
});
