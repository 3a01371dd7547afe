import { text, wrap } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { deprecation, sunset, type DeprecationOptions } from "../../src/index.ts";

const date = new Date("2020-09-01T18:32:00.999Z");

async function headersOf(
  middleware: ReturnType<typeof sunset>,
  own: Record<string, string> = {},
): Promise<Record<string, string>> {
  const handlers = [() => text("x", { headers: own }), async () => text("x", { headers: own })];
  const all = await Promise.all(
    handlers.map(async (handler) =>
      Object.fromEntries(
        (await wrap(handler, middleware)(new Request("http://localhost/"))).headers,
      ),
    ),
  );
  const [first = {}] = all;
  expect(all[1]).toEqual(first);
  const { "content-type": _type, ...rest } = first;
  return rest;
}

describe("refused are", () => {
  it.each<[string, () => unknown]>([
    ["no date", () => deprecation("1", new Date("never"))],
    // @ts-expect-error: not a date
    ["a date as text", () => sunset("2020-01-01")],
    ["a year that has no date of HTTP", () => sunset(new Date(Date.UTC(12_000, 0, 1)))],
    ["a version with a line break", () => deprecation("1\r\n", date)],
    [
      "an unknown format",
      () => deprecation("1", date, { format: "rfc" } as unknown as DeprecationOptions),
    ],
    ["an empty link", () => sunset(date, { link: "" })],
    ["a link that leaves its brackets", () => sunset(date, { link: "a>; rel=x" })],
  ])("%s", (_case, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }));
  });
});

it.each([
  [
    "A7: version and date",
    deprecation("1.0.2", date),
    { deprecation: 'version="1.0.2", date="2020-09-01T18:32:00Z"' },
  ],
  ["RFC 9745", deprecation("1.0.2", date, { format: "rfc9745" }), { deprecation: "@1598985120" }],
  [
    "a version with quotes",
    deprecation('a"b\\', date),
    { deprecation: String.raw`version="a\"b\\", date="2020-09-01T18:32:00Z"` },
  ],
  [
    "a link",
    deprecation("1", date, { format: "rfc9745", link: "/docs" }),
    { deprecation: "@1598985120", link: '</docs>; rel="deprecation"; type="text/html"' },
  ],
  ["sunset (RFC 8594)", sunset(date), { sunset: "Tue, 01 Sep 2020 18:32:00 GMT" }],
  [
    "sunset with a link",
    sunset(date, { link: "https://a.example/b" }),
    {
      sunset: "Tue, 01 Sep 2020 18:32:00 GMT",
      link: '<https://a.example/b>; rel="sunset"; type="text/html"',
    },
  ],
] as const)("deprecation sends %s", async (_case, middleware, expected) => {
  expect(await headersOf(middleware)).toEqual(expected);
});

it("deprecation keeps the handler's header, and adds to its links", async () => {
  expect(await headersOf(sunset(date, { link: "/b" }), { sunset: "soon", link: "</a>" })).toEqual({
    sunset: "soon",
    link: '</a>, </b>; rel="sunset"; type="text/html"',
  });
});
