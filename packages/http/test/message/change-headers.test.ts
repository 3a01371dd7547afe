import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addVary,
  changeHeaders,
  createContext,
  empty,
  json,
  setDefault,
  type Context,
} from "../../src/index.ts";
import { replaceBody, takeResponse } from "../../src/internal.ts";

const newContext = (): Context => createContext(new Request("http://localhost/"));
const mark = (headers: Headers): void => headers.set("x-mark", "1");

describe("changeHeaders()", () => {
  it("rejects a response with a body that another exchange changed", () => {
    const shared = new Response("shared");
    changeHeaders(shared, newContext(), mark);
    expect(() => changeHeaders(shared, newContext(), mark)).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_RESPONSE_SHARED" }),
    );
  });

  it("changes a response with a body in place, any number of times in one exchange", () => {
    const response = new Response("own");
    const context = newContext();
    expect(changeHeaders(response, context, mark)).toBe(response);
    expect(changeHeaders(response, context, (headers) => headers.set("x-two", "2"))).toBe(response);
    expect(response.headers.get("x-mark")).toBe("1");
  });

  it("adds no visible property to a response", () => {
    const response = new Response("own");
    const before = Reflect.ownKeys(response);
    changeHeaders(response, newContext(), mark);
    expect(Reflect.ownKeys(response)).toEqual(before);
  });

  it("changes a response of replaceBody() in place", () => {
    const taken = takeResponse(json({ a: 1 }));
    const response = replaceBody(taken, "[]", taken.headers);
    expect(changeHeaders(response, newContext(), mark)).toBe(response);
  });

  it.each([
    ["a redirect", () => Response.redirect("http://localhost/next"), 302],
    ["a network error", () => Response.error(), 500],
  ])("rebuilds %s, once", (_what, make, status) => {
    const context = newContext();
    const rebuilt = changeHeaders(make(), context, mark);
    expect([rebuilt.status, rebuilt.headers.get("x-mark")]).toEqual([status, "1"]);
    expect(changeHeaders(rebuilt, context, mark)).toBe(rebuilt);
  });

  it("keeps several Set-Cookie fields when it rebuilds", () => {
    const headers = new Headers([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ]);
    const changed = changeHeaders(new Response(null, { headers }), newContext(), mark);
    expect(changed.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });
});

describe("setDefault()", () => {
  it("keeps what the handler set, and sets the rest", () => {
    const headers = new Headers({ "X-Frame-Options": "DENY" });
    setDefault(headers, "x-frame-options", "SAMEORIGIN");
    setDefault(headers, "x-other", "1");
    expect([...headers]).toEqual([
      ["x-frame-options", "DENY"],
      ["x-other", "1"],
    ]);
  });
});

describe("addVary()", () => {
  it.each([
    [null, ["Origin"], "Origin"],
    ["Origin", ["origin"], "Origin"],
    ["Accept", ["Origin", "ACCEPT"], "Accept, Origin"],
    ["Accept,  , Origin", ["Cookie"], "Accept, Origin, Cookie"],
    ["*", ["Origin"], "*"],
    ["Origin", ["*"], "*"],
    [null, ["A, B"], "A, B"],
    [null, ["A, a"], "A"],
    ["Origin", ["origin, Accept"], "Origin, Accept"],
    ["Accept-Encoding", ["Accept"], "Accept-Encoding, Accept"],
    [null, [], null],
  ])("merges %j with %j into %j", (present, names, merged) => {
    const headers = new Headers(present === null ? {} : { vary: present });
    addVary(headers, ...names);
    expect(headers.get("vary")).toBe(merged);
  });

  it("has each name once, whatever is added, in any order", () => {
    const name = fc.stringMatching(/^[A-Za-z-]{1,8}$/);
    fc.assert(
      fc.property(fc.array(name), fc.array(name), (first, second) => {
        const headers = new Headers();
        addVary(headers, ...first);
        addVary(headers, ...second, ...first);
        const present = (headers.get("vary") ?? "").split(", ").filter((entry) => entry !== "");
        const expected = new Set([...first, ...second].map((entry) => entry.toLowerCase()));
        expect(present.map((entry) => entry.toLowerCase())).toEqual([...expected]);
      }),
    );
  });
});

describe("shared responses", () => {
  it.each([
    ["an empty platform response", () => new Response(null, { status: 404 })],
    ["empty()", () => empty(404)],
    ["json()", () => json({ error: "not found" }, { status: 404 })],
    ["json() that was cloned", () => cloned(json(1, { status: 404 }))],
    [
      "json() with headers that were read",
      () => look(json(1, { status: 404, headers: { "x-a": "1" } })),
    ],
  ])("does not carry headers of one exchange into another: %s", (_what, make) => {
    const shared = make();
    const before = [...shared.headers];
    const first = changeHeaders(shared, newContext(), (headers) =>
      headers.set("set-cookie", "a=1"),
    );
    const second = changeHeaders(shared, newContext(), mark);
    expect(first.headers.get("set-cookie")).toBe("a=1");
    expect(second.headers.get("set-cookie")).toBeNull();
    expect([first.status, second.status]).toEqual([404, 404]);
    expect([...shared.headers]).toEqual(before);
  });
});

function cloned(response: Response): Response {
  void response.clone();
  return response;
}

function look(response: Response): Response {
  void response.headers.get("x-a");
  return response;
}
