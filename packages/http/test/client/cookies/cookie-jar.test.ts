import { inspect } from "node:util";
import fc from "fast-check";
import { Client, CookieJar, mockTransport, text } from "@fetchwork/http";
import { afterEach, describe, expect, it, vi } from "vitest";

afterEach(() => vi.useRealTimers());

function jarWith(...cookies: readonly (readonly [line: string, url: string])[]): CookieJar {
  const jar = new CookieJar();
  for (const [line, url] of cookies) jar.set(line, url);
  return jar;
}

describe("a jar refuses", () => {
  it.each([
    ["another domain", "a=1; Domain=b.test", "http://a.test/"],
    ["a subdomain of the host", "a=1; Domain=x.a.test", "http://a.test/"],
    ["a suffix that is no parent", "a=1; Domain=b.test", "http://ab.test/"],
    ["a top-level domain", "a=1; Domain=com", "http://a.com/"],
    ["a public suffix of two levels", "a=1; Domain=co.uk", "http://a.co.uk/"],
    ["a part of an address", "a=1; Domain=0.0.1", "http://127.0.0.1/"],
    ["Secure without TLS", "a=1; Secure", "http://a.test/"],
    ["__Secure- without Secure", "__Secure-a=1", "https://a.test/"],
    ["__Host- with a domain", "__Host-a=1; Secure; Path=/; Domain=a.test", "https://a.test/"],
    ["__Host- with a path", "__host-a=1; Secure; Path=/x", "https://a.test/"],
    ["a prefix in place of a name", "=__Host-a=1; Secure; Path=/", "https://a.test/"],
    ["what has expired", "a=1; Max-Age=0", "http://a.test/"],
    ["a URL that is none", "a=1", "a.test"],
  ])("%s", (_, line, url) => {
    expect(jarWith([line, url]).size).toBe(0);
  });

  it("to replace or hide with a plain connection what a secure one has set", () => {
    const jar = jarWith(
      ["a=1; Secure", "https://a.test/"],
      ["a=2", "http://a.test/"],
      ["a=3; Path=/deep", "http://a.test/deep/x"],
      ["a=4; Domain=a.test", "http://x.a.test/"],
    );
    expect(jar.header("https://a.test/deep/x")).toBe("a=1");
    expect(jar.header("http://a.test/")).toBe("");
  });

  it("more than 50 cookies of a domain and 3000 in all, the oldest first", () => {
    const jar = new CookieJar();
    for (let index = 0; index < 60; index += 1) jar.set(`c${index}=1`, "http://a.test/");
    expect(jar.size).toBe(50);
    expect(jar.header("http://a.test/")).not.toContain("c9=");
    expect(jar.header("http://a.test/")).toContain("c10=");
    for (let index = 0; index < 3100; index += 1) jar.set("a=1", `http://h${index}.test/`);
    expect(jar.size).toBe(3000);
    expect(jar.header("http://a.test/")).toBe("");
  });
});

describe("a jar sends", () => {
  it.each([
    ["to the host alone", "a=1", "http://a.test/", "http://a.test/x", "a=1"],
    ["not to a subdomain", "a=1", "http://a.test/", "http://x.a.test/", ""],
    [
      "to subdomains of a Domain",
      "a=1; Domain=a.test",
      "http://x.a.test/",
      "http://y.a.test/",
      "a=1",
    ],
    ["to any port", "a=1", "http://a.test:8080/", "http://a.test/", "a=1"],
    ["below the path", "a=1; Path=/x", "http://a.test/", "http://a.test/x/y", "a=1"],
    ["not beside the path", "a=1; Path=/x", "http://a.test/", "http://a.test/xy", ""],
    ["to the folder of the request", "a=1", "http://a.test/x/y", "http://a.test/x/z", "a=1"],
    ["not above that folder", "a=1", "http://a.test/x/y", "http://a.test/", ""],
    ["Secure over TLS", "a=1; Secure", "https://a.test/", "https://a.test/", "a=1"],
    ["Secure not without", "a=1; Secure", "https://a.test/", "http://a.test/", ""],
    ["Secure to this machine", "a=1; Secure", "http://localhost/", "http://localhost/", "a=1"],
    ["__Host-", "__Host-a=1; Secure; Path=/", "https://a.test/", "https://a.test/", "__Host-a=1"],
    ["a value without a name", "v", "http://a.test/", "http://a.test/", "v"],
    ["to an IPv6 address", "a=1", "http://[::1]/", "http://[::1]/", "a=1"],
    ["of a public suffix to itself", "a=1; Domain=co.uk", "http://co.uk/", "http://x.co.uk/", ""],
  ])("%s", (...[, line, from, to, expected]) => {
    expect(jarWith([line, from]).header(to)).toBe(expected);
  });

  it("longer paths first, then older cookies", () => {
    const jar = jarWith(
      ["a=1; Path=/", "http://a.test/"],
      ["b=2; Path=/x", "http://a.test/"],
      ["c=3; Path=/", "http://a.test/"],
      ["a=4; Path=/", "http://a.test/"],
    );
    expect(jar.header("http://a.test/x")).toBe("b=2; a=4; c=3");
  });

  it("nothing that has expired since", () => {
    vi.useFakeTimers();
    const jar = jarWith(["a=1; Max-Age=10", "http://a.test/"], ["b=2", "http://a.test/"]);
    expect(jar.header("http://a.test/")).toBe("a=1; b=2");
    vi.advanceTimersByTime(10_000);
    expect(jar.header("http://a.test/")).toBe("b=2");
  });

  it("nothing that was deleted or cleared", () => {
    const jar = jarWith(
      ["a=1", "http://a.test/"],
      ["b=1", "http://a.test/"],
      ["a=; Max-Age=0", "http://a.test/"],
    );
    expect(jar.header("http://a.test/")).toBe("b=1");
    jar.clear();
    expect(jar.size).toBe(0);
  });

  it("a cookie to no host that is not the setter's or below its Domain", () => {
    const host = fc.constantFrom(
      "a.test",
      "x.a.test",
      "y.x.a.test",
      "b.test",
      "ba.test",
      "127.0.0.1",
    );
    fc.assert(
      fc.property(host, fc.option(host), host, (setter, domain, asked) => {
        const jar = jarWith([
          domain === null ? "a=1" : `a=1; Domain=${domain}`,
          `http://${setter}/`,
        ]);
        if (jar.header(`http://${asked}/`) === "") return;
        const isBelow =
          domain !== null &&
          (setter === domain || setter.endsWith(`.${domain}`)) &&
          asked.endsWith(`.${domain}`);
        expect(asked === setter || asked === domain || isBelow).toBe(true);
      }),
    );
  });

  it("never what it holds to a console", () => {
    const jar = jarWith(["sid=hunter2", "http://a.test/"]);
    expect(inspect(jar, { depth: 5, showHidden: true }) + JSON.stringify(jar)).not.toContain(
      "hunter2",
    );
  });
});

describe("a client with a jar", () => {
  it("takes cookies, sends them back, also across redirects, and never to another host", async () => {
    const seen: (string | null)[] = [];
    const client = new Client({
      cookies: new CookieJar(),
      transport: mockTransport(({ url, headers }) => {
        seen.push(headers.get("cookie"));
        const { pathname } = new URL(url);
        const to = { "/login": "/home", "/out": "http://b.test/" }[pathname];
        const answer = new Headers(to === undefined ? {} : { location: to });
        if (pathname === "/login") {
          answer.append("set-cookie", "sid=1; Path=/");
          answer.append("set-cookie", "theme=dark, blue; Expires=Fri, 01 Jan 2100 00:00:00 GMT");
        }
        return new Response(null, { status: to === undefined ? 200 : 302, headers: answer });
      }),
    });
    await client.send({ baseUrl: "http://a.test/login" });
    await client.send({ baseUrl: "http://a.test/out" });
    await client.send({ baseUrl: "http://a.test/", headers: { cookie: "own=1" } });
    expect(seen).toEqual([
      null,
      "sid=1; theme=dark, blue",
      "sid=1; theme=dark, blue",
      null,
      "own=1",
    ]);
  });

  it("takes any store of the same shape", async () => {
    const lines: string[] = [];
    const client = new Client({
      cookies: { header: () => "x=1", set: (line, url) => void lines.push(`${url} ${line}`) },
      transport: mockTransport(({ headers }) =>
        text(headers.get("cookie") ?? "", { headers: { "set-cookie": "a=1" } }),
      ),
    });
    expect((await client.send({ baseUrl: "http://a.test/" })).body).toBe("x=1");
    expect(lines).toEqual(["http://a.test/ a=1"]);
  });
});
