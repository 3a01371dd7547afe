import { describe, expect, it } from "vitest";
import { masterKey, openApi } from "../../../test/api-client.ts";

describe("users", () => {
  it("are created and signed in with the master key", async () => {
    const api = await openApi();
    const access_token = masterKey;
    const form = { email: "ada@example.com", password: "123456", role: "admin", access_token };
    const created = await api.send("POST", "/users", { form });
    expect([created.status, created.json.role]).toEqual([201, "admin"]);
    const basic = ["ada@example.com", "123456"] as const;
    const session = await api.send("POST", "/auth", { basic, form: { access_token } });
    expect([session.status, session.json.user.id]).toEqual([201, created.json.id]);
  });

  it("are created and signed in by the master key alone", async () => {
    const api = await openApi();
    await api.join("ada@example.com");
    const basic = ["ada@example.com", "123456"] as const;
    expect((await api.send("POST", "/auth", { basic })).status).toBe(401);
    const form = { email: "bob@example.com", password: "123456" };
    expect((await api.send("POST", "/users", { form })).status).toBe(401);
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
