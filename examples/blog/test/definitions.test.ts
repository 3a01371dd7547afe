import { administer, openStore } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import { expect, it, onTestFinished } from "vitest";
import { app as blog } from "../src/app.ts";
import { masterKey, openBlog } from "./open-blog.ts";

it("fetchwork db knows every collection that the API writes to", async () => {
  const store = await openStore("sqlite::memory:");
  const app = openBlog(store, { signInFailures: 3 });
  onTestFinished(async () => {
    await app.stop({ grace: 0 });
    await store.close();
  });
  const send = async (path: string, form: object, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams({ access_token: masterKey, ...form });
    const request = new Request(`http://localhost${path}`, { method: "POST", headers, body });
    return app.handler(request, createContext(request));
  };
  const ada = { email: "ada@example.com", password: "analytical" };
  const made = await send("/users", ada, { "idempotency-key": "one" });
  expect(made.status).toBe(201);
  const basic = (password: string) => ({
    authorization: `Basic ${btoa(`ada@example.com:${password}`)}`,
  });
  expect((await send("/auth", {}, basic("wrong"))).status).toBe(401);
  expect((await send("/auth", {}, basic("analytical"))).status).toBe(201);
  const written = (await administer(store).status()).collections.map(({ name }) => name);
  expect(written).toEqual(expect.arrayContaining(["users", "idempotencyRecords", "sessions"]));
  const known = blog.collections.map(({ name }) => name);
  expect(written.filter((name) => !known.includes(name))).toEqual([]);
});
