import { Client, json, mockTransport, paginate, type Handler } from "@fetchwork/http";
import { describe, expect, expectTypeOf, it } from "vitest";
import { processorTime } from "../../../kit/test/processor-time.ts";
import { z } from "zod";
import { nextLink } from "../../src/client/response/link-header.ts";

const start = "https://api.test/items";

function clientOf(handler: Handler, headers: Record<string, string> = {}): Client {
  return new Client({ transport: mockTransport(handler), headers });
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Pages by their query, each with its `Link`. */
function pages(links: Readonly<Record<string, string>>, asked: string[] = []): Client {
  return clientOf((request) => {
    const { href, search } = new URL(request.url);
    asked.push(href);
    const link = links[search];
    return json([search], { headers: link === undefined ? {} : { link } });
  });
}

describe("paginate refuses", () => {
  it.each([
    [{ maxPages: -1 }],
    [{ items: "x" }],
    [{ next: 1 }],
    [{ schema: {} }],
    [{ pages: 3 }],
    [{ timeout: -1 }],
  ])("the option %j at once", (options) => {
    const client = pages({});
    expect(() => client.paginate({ baseUrl: start }, options as object)).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_OPTION" }) as Error,
    );
  });

  it.each([
    "<https://evil.test/items>; rel=next",
    "<http://api.test/items?page=2>; rel=next",
    "<https://api.test:8443/items?page=2>; rel=next",
    "<//evil.test/items>; rel=next",
    "<data:,[]>; rel=next",
    "<https://[>; rel=next",
  ])("a next page of another origin, and asks it for nothing: %s", async (link) => {
    const asked: string[] = [];
    await expect(
      all(pages({ "": link }, asked).paginate({ baseUrl: start })),
    ).rejects.toMatchObject({
      code: "ERR_HTTP_PAGE",
      message:
        "paginate: the next page is not a URL of the same origin, after https://api.test/items",
    });
    expect(asked).toEqual([start]);
  });

  it("an origin that only the first page redirected to is left again", async () => {
    const seen: string[] = [];
    const client = clientOf(
      (request) => {
        const { origin, search } = new URL(request.url);
        seen.push(`${origin} ${request.headers.get("authorization") ?? "none"}`);
        if (origin === "https://api.test") {
          return new Response(null, {
            status: 307,
            headers: { location: "https://cdn.test/items" },
          });
        }
        const link = search === "" ? "<?page=2>; rel=next" : `<${start}>; rel=next`;
        return json([search], { headers: { link } });
      },
      { authorization: "Bearer secret" },
    );
    await expect(all(client.paginate({ baseUrl: start }))).rejects.toThrow("not a URL of the same");
    expect(seen).toEqual([
      "https://api.test Bearer secret",
      "https://cdn.test none",
      "https://cdn.test none",
    ]);
  });

  it("more pages than the maximum", async () => {
    const client = clientOf((request) => {
      const page = Number(new URL(request.url).searchParams.get("page") ?? 1);
      return json([page], { headers: { link: `<?page=${page + 1}>; rel="next"` } });
    });
    const taken: unknown[] = [];
    await expect(async () => {
      for await (const item of client.paginate({ baseUrl: start }, { maxPages: 3 }))
        taken.push(item);
    }).rejects.toThrow("there are more than 3 pages");
    expect(taken).toEqual([1, 2, 3]);
  });

  it("a page that is not a list, with the type of what it is", async () => {
    const client = clientOf(() => json({ secret: "hunter2" }));
    await expect(all(client.paginate({ baseUrl: start }))).rejects.toMatchObject({
      code: "ERR_HTTP_PAGE",
      message: "paginate: the page must be a list, got object; option items reads one from it",
    });
  });

  it("a page that is not a success", async () => {
    const client = clientOf(() => json({ message: "no" }, { status: 403 }));
    await expect(all(client.paginate({ baseUrl: `${start}?token=secret` }))).rejects.toMatchObject({
      code: "ERR_HTTP_REST",
      message: '403 from GET https://api.test/items?token=…: {"message":"no"}',
    });
  });

  it("a page over the limit of the client", async () => {
    const client = clientOf(() => json(["x".repeat(100)])).extend({ maxResponseSize: 50 });
    await expect(all(client.paginate({ baseUrl: start }))).rejects.toMatchObject({
      code: "ERR_HTTP_TOO_LARGE",
    });
  });

  it("to send a stream again", async () => {
    const client = pages({ "": "<?page=2>; rel=next" });
    const body = new Blob(["{}"]).stream();
    const request = { method: "POST", baseUrl: start, body } as const;
    await expect(all(client.paginate(request))).rejects.toMatchObject({ code: "ERR_HTTP_BODY" });
  });
});

describe("paginate", () => {
  it("follows links, with the headers of the first request, and ends without one", async () => {
    const asked: string[] = [];
    const client = pages(
      { "": "<?page=2>; rel=next", "?page=2": "</items?page=3>; rel=next" },
      asked,
    );
    expect(await all(client.paginate({ baseUrl: start }))).toEqual(["", "?page=2", "?page=3"]);
    expect(asked).toEqual([start, `${start}?page=2`, `${start}?page=3`]);
  });

  it("sends credentials to the pages of the same origin", async () => {
    const sent: (string | null)[] = [];
    const client = clientOf((request) => {
      sent.push(request.headers.get("authorization"));
      const link = new URL(request.url).search === "" ? { link: "<?page=2>; rel=next" } : {};
      return json([1], { headers: link });
    });
    const headers = { authorization: "Bearer x" };
    await all(client.paginate({ baseUrl: start, headers }));
    expect(sent).toEqual(["Bearer x", "Bearer x"]);
  });

  it("ends where a page leads to one that was read", async () => {
    const client = pages({ "": "<?page=2>; rel=next", "?page=2": `<${start}#x>; rel=next` });
    expect(await all(client.paginate({ baseUrl: start }))).toEqual(["", "?page=2"]);
    const self = pages({ "": `<${start}>; rel=next` });
    expect(await all(self.paginate({ baseUrl: start }))).toEqual([""]);
  });

  it("asks for a page when the items before it were taken, and for no more after a break", async () => {
    const asked: string[] = [];
    const client = pages({ "": "<?page=2>; rel=next", "?page=2": "<?page=3>; rel=next" }, asked);
    for await (const item of client.paginate({ baseUrl: start })) if (item === "?page=2") break;
    expect(asked).toEqual([start, `${start}?page=2`]);
  });

  it("takes a cursor of the page in the place of the one before", async () => {
    const asked: string[] = [];
    const client = clientOf((request) => {
      const { search, searchParams } = new URL(request.url);
      asked.push(search);
      const cursor = { "": "a&b", "a&b": null }[searchParams.get("cursor") ?? ""];
      return json({ data: [search.length], cursor });
    });
    const page = z.object({ data: z.array(z.number()), cursor: z.string().nullable() });
    const items = client.paginate(
      { baseUrl: start, queryParams: { limit: 2 } },
      {
        schema: page,
        items: ({ data }) => data,
        next: ({ cursor }) => cursor !== null && { cursor },
      },
    );
    expectTypeOf(items).toExtend<AsyncIterable<number>>();
    expect(await all(items)).toEqual([8, 21]);
    expect(asked).toEqual(["?limit=2", "?limit=2&cursor=a%26b"]);
  });

  it("returns whole pages where items returns the page", async () => {
    const client = pages({ "": "<?page=2>; rel=next" });
    const whole = client.paginate<string[], string[]>(
      { baseUrl: start },
      { items: (page) => [page] },
    );
    expect(await all(whole)).toEqual([[""], ["?page=2"]]);
  });

  it("takes a 204 for the end", async () => {
    expect(
      await all(clientOf(() => new Response(null, { status: 204 })).paginate({ baseUrl: start })),
    ).toEqual([]);
  });

  it("has the type of the members of a list", () => {
    expectTypeOf(paginate<{ id: number }[]>).returns.toExtend<AsyncIterable<{ id: number }>>();
    const client = pages({});
    const numbers = client.paginate({ baseUrl: start }, { schema: z.array(z.number()) });
    expectTypeOf(numbers).toExtend<AsyncIterable<number>>();
    expectTypeOf(client.paginate({ baseUrl: start })).toExtend<AsyncIterable<unknown>>();
  });
});

describe("nextLink", () => {
  it.each([
    ['<a>; rel="next"', "a"],
    ["<a>;rel=next", "a"],
    ['<a>; rel="prev", <b>; REL="Last NEXT"', "b"],
    ['<a,;b>; title="x, <c>; rel=next"; rel="prev"', undefined],
    ['<a>; title="\\"; rel=next', undefined],
    ['<a>; rel="prev"; rel="next"', undefined],
    ['<a>; rel=next; anchor="/other", <b>; rel=next', "b"],
    ["<a>; rel=nextpage", undefined],
    ["<a>; rel*=next", undefined],
    ["rel=next", undefined],
    ["<a", undefined],
    ["<>; rel=next", ""],
    ["", undefined],
  ])("%s -> %s", (field, target) => {
    expect(nextLink(field)).toBe(target);
  });

  it("takes time linear in the field", () => {
    for (const part of ["<", '"', '\\"', ";", "<a>;", '"\\', "a ", "<a>; rel=x, "]) {
      const started = processorTime();
      nextLink(part.repeat(500_000));
      expect(processorTime(started)).toBeLessThan(2000);
    }
  });
});
