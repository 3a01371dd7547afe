import { createClient } from "@fetchwork/rest/client";
import { describe, expect, it } from "vitest";
import type { app } from "../src/app.ts";
import { masterKey, openApi } from "./api-client.ts";

describe("a typed client of the blog", () => {
  it("knows articles and their fields, users and sessions from the type of the routes", async () => {
    const { origin, join } = await openApi("socket");
    const { token } = await join("ada@example.com");
    const client = createClient<typeof app>({ baseUrl: origin, token });
    const { data: article, etag } = await client.articles.create({ title: "Some title" });
    // @ts-expect-error -- an article has no subject
    expect(article.subject).toBeUndefined();
    // @ts-expect-error -- a title is a text
    await expect(client.articles.create({ title: 7 })).rejects.toMatchObject({ param: "title" });
    expect(article.author satisfies { id: string; name: string | null } | null).toMatchObject({
      name: "ada",
    });
    const changed = await client.articles.update(article.id, { title: "New" }, { ifMatch: etag });
    expect(changed.data.title satisfies string).toBe("New");
    const { data: user } = await client.users.show("me");
    expect([user.name satisfies string | null, user.email satisfies string | undefined]).toEqual([
      "ada",
      "ada@example.com",
    ]);
    const master = createClient<typeof app>({ baseUrl: origin, token: masterKey });
    const body = { email: "ada@example.com", password: "analytical" };
    await expect(master.users.create(body)).rejects.toMatchObject({
      status: 409,
      param: "email",
    });
    const session = await createClient<typeof app>({ baseUrl: origin }).signIn(
      {},
      {
        headers: { authorization: `Basic ${btoa("ada@example.com:123456")}` },
        query: { access_token: masterKey },
      },
    );
    expect(session.data.token satisfies string).toMatch(/^eyJ/);
    expect(session.data.user.role satisfies "admin" | "user").toBe("user");
    const admin = await join("admin@example.com", "admin");
    const { data: users } = await createClient<typeof app>({
      baseUrl: origin,
      token: admin.token,
    }).users.list({ sort: "email", fields: "email" });
    expect(users.map(({ email }) => email)).toEqual(["ada@example.com", "admin@example.com"]);
  });
});
