import { expect, it } from "vitest";
import { createEndpoint, endpoint, toRequest } from "../src/index.ts";

const api = createEndpoint({ baseUrl: "https://api.example.com" });

it("toRequest() makes a Request with the method in upper case and a JSON body", async () => {
  const request = toRequest(api("patch /x", { a: "é" }));
  expect([request.method, request.url]).toEqual(["PATCH", "https://api.example.com/x"]);
  expect(request.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(await request.json()).toEqual({ a: "é" });
});

it("toRequest() sends text and bytes unchanged, and null as JSON", async () => {
  const text = (data: unknown): Promise<string> => toRequest(api("POST /x", { data })).text();
  expect(await text("{a}")).toBe("{a}");
  expect(await text(new Uint8Array([97]))).toBe("a");
  expect(await text(new URLSearchParams({ a: "b c" }))).toBe("a=b+c");
  expect(await text(new Blob(["b"]).stream())).toBe("b");
  expect(await text(null)).toBe("null");
  expect(await text([1])).toBe("[1]");
  expect(
    await text(
      new (class Point {
        x = 1;
      })(),
    ),
  ).toBe('{"x":1}');
});

it("toRequest() leaves the content type of a form to the platform", () => {
  const data = new FormData();
  const type = toRequest(api("POST /x", { data })).headers.get("content-type");
  expect(type).toMatch(/^multipart\/form-data; boundary=/);
});

it("toRequest() makes a Request without a body when there is none", () => {
  expect(toRequest(api("GET /x", { a: 1 })).body).toBeNull();
  expect(toRequest(api("DELETE /x")).body).toBeNull();
});

it("toRequest() accepts options of the platform, such as a signal", () => {
  const controller = new AbortController();
  controller.abort();
  const request = toRequest(api("/x"), { signal: controller.signal, redirect: "error" });
  expect([request.signal.aborted, request.redirect]).toEqual([true, "error"]);
});

it.each([
  () => endpoint("GET /x"),
  () => api("TRACE /x"),
  () => api("CONNECT /x"),
  () => createEndpoint({ baseUrl: "" })("/x"),
  () => createEndpoint({ baseUrl: "https://a:b:c" })("/x"),
  () => api("POST /x", { data: [1n] }),
  () => {
    const data: unknown[] = [];
    data.push(data);
    return api("POST /x", { data });
  },
])("toRequest() throws when the platform rejects the request: %o", (make) => {
  expect(() => toRequest(make())).toThrow(
    expect.objectContaining({ code: "ERR_ENDPOINT_REQUEST", cause: expect.any(TypeError) }),
  );
});
