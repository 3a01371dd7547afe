import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { describe, expect, it } from "vitest";
import {
  accountSettings,
  defineConfig,
  defineService,
  mailSettings,
  serverSettings,
} from "../src/index.ts";
import { testService } from "../src/testing/test-service.ts";
import { openApi } from "./open-api.ts";

const basic = ["ada@example.com", "123456"] as const;

describe("users", () => {
  it("are created and signed in with the master key, and by it alone", async () => {
    const { send, service } = await openApi();
    const access_token = service.masterKey;
    const form = { email: basic[0], password: basic[1], role: "admin" };
    expect((await send("POST", "/users", { form })).status).toBe(401);
    const created = await send("POST", "/users", { form: { ...form, access_token } });
    expect([created.status, created.json.role]).toEqual([201, "admin"]);
    expect((await send("POST", "/auth", { basic })).status).toBe(401);
    const session = await send("POST", "/auth", { basic, form: { access_token } });
    expect([session.status, session.json.user.id]).toEqual([201, created.json.id]);
  });

  it("show others neither their email nor what follows from it", async () => {
    const api = await openApi();
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const { json } = await api.send("GET", `/users/${ada.id}`, { token: bob.token });
    expect(json).toEqual({ id: ada.id, name: null, picture: null });
    const own = await api.send("GET", "/users/me", { token: ada.token });
    expect(own.json).toMatchObject({ name: "ada", email: "ada@example.com" });
  });

  it("are signed out everywhere by signing out", async () => {
    const api = await openApi();
    const { token } = await api.join("ada@example.com");
    expect((await api.send("DELETE", "/auth", { token })).status).toBe(204);
    expect((await api.send("GET", "/users/me", { token })).status).toBe(401);
  });
});

describe("users who sign up themselves", () => {
  const open = defineService({
    name: "open",
    config: defineConfig({ ...serverSettings, ...accountSettings, ...mailSettings }),
    accounts: accounts({ user: defineUser(), signUp: "public", signIn: "public" }),
  });
  const settings = { PUBLIC_URL: "https://app.example" };
  const form = { email: basic[0], password: basic[1] };
  const authorization = `Basic ${btoa(basic.join(":"))}`;

  it("confirm the address by the link of a mail, and sign in", async () => {
    const service = await testService(open, { settings });
    const body = new URLSearchParams({ ...form, link: "https://app.example/confirm" });
    expect((await service.fetch("/users", { method: "POST", body })).status).toBe(202);
    const signIn = () => service.fetch("/auth", { method: "POST", headers: { authorization } });
    expect((await signIn()).status).toBe(401);
    const { text } = await service.nextMail(basic[0]);
    const [, token] = /https:\/\/app\.example\/confirm\/(\S+)/.exec(text) ?? [];
    const password = new URLSearchParams({ password: basic[1] });
    const confirmation = { method: "PUT", body: password };
    expect((await service.fetch(`/email-changes/${token}`, confirmation)).status).toBe(200);
    const session = (await (await signIn()).json()) as { readonly token: string };
    const headers = { authorization: `Bearer ${session.token}` };
    const own = await service.fetch("/users/me", { headers });
    expect(await own.json()).toMatchObject({ email: basic[0], role: "user" });
  });

  it("set no role", async () => {
    const service = await testService(open, { settings });
    const body = new URLSearchParams({ ...form, role: "admin" });
    expect((await service.fetch("/users", { method: "POST", body })).status).toBe(403);
  });
});
