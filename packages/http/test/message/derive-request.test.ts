import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveRequest, nativeRequest } from "../../src/index.ts";

const post = (): Request =>
  new Request("http://localhost/a?b=1", {
    method: "POST",
    body: '{"q":1}',
    headers: { "content-type": "application/json", "x-keep": "1", "x-drop": "2" },
  });

describe("deriveRequest() rejects", () => {
  it.each([
    "http://a\r\n/",
    "/a\tb",
    "/a\0",
    "ftp://a/",
    "javascript:1",
    "relative",
    "",
    "http://",
    "\\\\evil",
  ])("the URL %j", (url) => {
    expect(() => deriveRequest(post(), { url })).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_URL" }),
    );
  });

  it.each([
    ["x-a", "1\r\nset-cookie: a=1"],
    ["x-a", "1\n"],
    ["x-a", "\0"],
    ["x-a", "\u0100"],
    ["x a", "1"],
    ["x:a", "1"],
    ["", "1"],
    ["x-ä", "1"],
  ])("the header %j: %j", (name, value) => {
    expect(() => deriveRequest(post(), { headers: { [name]: value } })).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_HEADER" }),
    );
  });

  it.each(["TRACE", "connect", "TRACK", "a b", ""])("the method %j", (method) => {
    expect(() => deriveRequest(post(), { method })).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_METHOD" }),
    );
  });

  it("exactly the header values that the platform rejects", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 6 }), (value) => {
        const platform = attempt(() => new Headers({ "x-a": value }).get("x-a"));
        const ours = attempt(() =>
          deriveRequest(post(), { headers: { "x-a": value } }).headers.get("x-a"),
        );
        // Line breaks at the ends are trimmed by the platform; we take none at all.
        if (/^[\r\n\t ]|[\r\n\t ]$/.test(value)) return;
        expect(ours).toEqual(platform);
      }),
    );
  });
});

describe("deriveRequest()", () => {
  it.each([
    ["/c?d", "http://localhost/c?d"],
    ["//evil/x", "http://localhost//evil/x"],
    ["/\\evil", "http://localhost//evil"],
    ["https://other:8443/x", "https://other:8443/x"],
  ])("resolves the URL %j to %j", (url, href) => {
    expect(deriveRequest(post(), { url }).url).toBe(href);
  });

  it("never changes the origin for a path", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (path) => {
        const derived = attempt(() => deriveRequest(post(), { url: `/${path}` }));
        if (derived instanceof Request)
          expect(new URL(derived.url).origin).toBe("http://localhost");
      }),
    );
  });

  it("returns a Request with everything else of its source", async () => {
    const source = post();
    const derived = deriveRequest(source, { url: "/c" });
    expect(derived).toBeInstanceOf(Request);
    expect(derived.headers).toBe(source.headers);
    expect([derived.method, derived.redirect, derived.signal]).toEqual([
      "POST",
      "follow",
      source.signal,
    ]);
    expect(derived.body).toBe(source.body);
    expect(await derived.json()).toEqual({ q: 1 });
    expect([derived.bodyUsed, source.bodyUsed]).toEqual([true, true]);
  });

  it("replaces the signal, which it reads on demand, also for the platform's request", () => {
    let reads = 0;
    const options = {
      get signal() {
        reads += 1;
        return AbortSignal.abort("late");
      },
    };
    const derived = deriveRequest(post(), options);
    expect([derived.url, reads]).toEqual(["http://localhost/a?b=1", 0]);
    expect(derived.signal.reason).toBe("late");
    expect(nativeRequest(deriveRequest(post(), options)).signal.reason).toBe("late");
  });

  it("changes headers without changing those of its source", () => {
    const source = post();
    const { headers } = deriveRequest(source, { headers: { "X-New": " 3 ", "x-drop": null } });
    expect(headers).toBeInstanceOf(Headers);
    expect([headers.get("x-new"), headers.get("x-drop"), headers.has("X-Drop")]).toEqual([
      "3",
      null,
      false,
    ]);
    expect([headers.get("x-keep"), headers.has("X-Keep")]).toEqual(["1", true]);
    const names = ["content-type", "x-keep", "x-new"];
    expect([...headers.keys()]).toEqual(names);
    expect([...new Headers(headers)].map(([name]) => name)).toEqual(names);
    headers.append("x-new", "4");
    headers.delete("x-keep");
    expect([headers.get("x-new"), headers.get("x-keep")]).toEqual(["3, 4", null]);
    const seen: string[] = [];
    headers.forEach((value, name) => seen.push(`${name}=${value}`));
    expect(seen).toEqual(["content-type=application/json", "x-new=3, 4"]);
    expect(source.headers.get("x-drop")).toBe("2");
  });

  it("derives from a derived request", async () => {
    const once = deriveRequest(post(), { url: "/c", headers: { "x-a": "1" } });
    const twice = deriveRequest(once, { headers: { "x-b": "2", "x-keep": null } });
    expect([twice.url, twice.headers.get("x-a"), twice.headers.get("x-b")]).toEqual([
      "http://localhost/c",
      "1",
      "2",
    ]);
    expect(twice.headers.has("x-keep")).toBe(false);
    expect(await twice.text()).toBe('{"q":1}');
  });

  it("replaces the body and removes the length of the old one", async () => {
    const source = deriveRequest(post(), { headers: { "content-length": "7" } });
    const derived = deriveRequest(source, { body: "other" });
    expect(derived.headers.get("content-length")).toBeNull();
    expect(derived.headers.get("content-type")).toBe("application/json");
    expect(await derived.text()).toBe("other");
    expect(source.bodyUsed).toBe(false);
  });

  it("sets the type of a form that replaces the body", async () => {
    const form = new FormData();
    form.set("a", "1");
    const derived = deriveRequest(post(), { body: form });
    expect((await derived.formData()).get("a")).toBe("1");
    const search = deriveRequest(post(), { body: new URLSearchParams("b=2") });
    expect(search.headers.get("content-type")).toMatch(/^application\/x-www-form-urlencoded/);
  });

  it("removes the body with null and for GET", async () => {
    for (const derived of [
      deriveRequest(post(), { body: null }),
      deriveRequest(post(), { method: "get" }),
    ]) {
      expect([derived.body, derived.headers.get("content-type")]).toEqual([null, null]);
      expect(await derived.text()).toBe("");
    }
  });

  it("clones with the derived headers", async () => {
    const derived = deriveRequest(post(), { headers: { "x-a": "1" } });
    const clone = derived.clone();
    expect(clone.headers.get("x-a")).toBe("1");
    expect([await clone.text(), await derived.text()]).toEqual(['{"q":1}', '{"q":1}']);
  });
});

describe("nativeRequest()", () => {
  it("returns a platform's request as it is", () => {
    const request = post();
    expect(nativeRequest(request)).toBe(request);
  });

  it("returns a request for a derived one that fetch() accepts", async () => {
    const native = nativeRequest(deriveRequest(post(), { url: "/c", headers: { "x-a": "1" } }));
    const copy = new Request(native, { redirect: "manual" });
    expect([copy.url, copy.method, copy.headers.get("x-a")]).toEqual([
      "http://localhost/c",
      "POST",
      "1",
    ]);
    expect(await copy.text()).toBe('{"q":1}');
  });

  it("returns what a server that runs on srvx, such as h3's, keeps under the same name", () => {
    const native = post();
    const received = Object.assign(Object.create(Request.prototype) as Request, {
      _request: native,
    });
    expect(nativeRequest(received)).toBe(native);
  });
});

function attempt<T>(run: () => T): T | "refused" {
  try {
    return run();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return "refused";
  }
}
