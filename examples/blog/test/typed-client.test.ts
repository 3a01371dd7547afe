import { createClient } from "@fetchwork/rest/client";
import { describe, expect, it } from "vitest";
import type { routes } from "../src/api/index.ts";
import { masterKey, openApi } from "./api-client.ts";

describe("a typed client of the blog", () => {
  it("knows articles and their fields, users and sessions from the type of the routes", async () => {
    const { origin, join } = await openApi("socket");
    const { token } = await join("ada@example.com");
    const client = createClient<typeof routes>({ baseUrl: origin, token });
    const { data: article, etag } = await client.articles.create({ title: "Some title" });
    // @ts-expect-error -- an article has no subject
    expect(article.subject).toBeUndefined();
    // @ts-expect-error -- a title is a text
    await expect(client.articles.create({ title: 7 })).rejects.toMatchObject({ param: "title" });
    const changed = await client.articles.update(article.id, { title: "New" }, { ifMatch: etag });
    expect(changed.data.title satisfies string).toBe("New");
    const { data: user } = await client.showUser({ params: { id: "me" } });
    expect(user).toMatchObject({ email: "ada@example.com" });
    const master = createClient<typeof routes>({ baseUrl: origin, token: masterKey });
    const body = { email: "ada@example.com", password: "analytical" };
    await expect(master.createUser({ body })).rejects.toMatchObject({
      status: 409,
      param: "email",
    });
  });
});
