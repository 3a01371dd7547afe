// #if public
import { expect, it, vi } from "vitest";
import { openApi } from "../../../test/api-client.ts";

it("everyone signs up, confirms the address by the link of a mail, and signs in", async () => {
  const shown = vi.spyOn(console, "log").mockReturnValue();
  const linkOrigins = ["https://app.example"];
  const api = await openApi("memory", { mail: { from: "api@app.example", linkOrigins } });
  const basic = ["ada@example.com", "123456"] as const;
  const form = { email: basic[0], password: basic[1], link: "https://app.example/confirm" };
  expect((await api.send("POST", "/users", { form })).status).toBe(202);
  expect((await api.send("POST", "/auth", { basic })).status).toBe(401);

  const mail = await vi.waitUntil(() => shown.mock.calls[0]?.[0] as string, { timeout: 5_000 });
  const [, token] = /https:\/\/app\.example\/confirm\/(\S+)/.exec(mail) ?? [];
  const json = { password: basic[1] };
  expect((await api.send("PUT", `/email-changes/${token}`, { json })).status).toBe(200);
  const session = await api.send("POST", "/auth", { basic });
  const own = await api.send("GET", "/users/me", { token: session.json.token });
  expect(own.json).toMatchObject({ email: basic[0], role: "user" });
});

it("a sign-up sets no role", async () => {
  const api = await openApi();
  const form = { email: "ada@example.com", password: "123456", role: "admin" };
  expect((await api.send("POST", "/users", { form })).status).toBe(403);
});
// #endif
