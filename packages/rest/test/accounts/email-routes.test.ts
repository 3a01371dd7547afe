import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  emailChanges,
  issueToken,
  passwordResets,
} from "../../src/accounts/mails/mailed-tokens.ts";
import { openAccounts, password, type TestAccounts } from "./open-accounts.ts";

const link = "https://app.example/confirm";
const basic = ["ada@example.com", password] as const;

async function ask(api: TestAccounts, email: string): Promise<string> {
  const { status } = await api.send("POST", "/users/me/email", { basic, json: { email, link } });
  expect(status).toBe(202);
  return (await api.nextMail()).token;
}

describe("another address", () => {
  it("is the user's once it is confirmed, and the former one is told", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const { status } = await api.send("POST", "/users/me/email", {
      basic,
      json: { email: " New@Example.com", link: `${link}/` },
    });
    expect(status).toBe(202);
    const { token, ...mail } = await api.nextMail();
    expect(mail).toMatchObject({ to: "new@example.com", subject: "Test - Confirm your address" });
    expect(mail.text).toContain(`${link}/${token}`);
    const before = await api.send("GET", "/users/me", { token: ada.token });
    expect(before.json.email).toBe("ada@example.com");
    const used = await api.send("PUT", `/email-changes/${token}`);
    expect(used.json).toMatchObject({ id: ada.id, email: "new@example.com" });
    expect((await api.send("PUT", `/email-changes/${token}`)).status).toBe(404);
    const told = await api.nextMail();
    expect(told).toMatchObject({
      to: "ada@example.com",
      subject: "Test - Your address has changed",
    });
    expect(told.text).not.toContain("new@example.com");
    expect((await api.signIn("ada@example.com")).status).toBe(401);
    expect((await api.signIn("new@example.com")).status).toBe(201);
  });

  it("is asked for with the password, by the user itself", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const json = { email: "new@example.com", link };
    for (const sent of [
      {},
      { token: ada.token },
      { basic: ["ada@example.com", "wrong!"] as const },
    ]) {
      expect((await api.send("POST", "/users/me/email", { json, ...sent })).status).toBe(401);
    }
    const foreign = await api.send("POST", `/users/${bob.id}/email`, { json, basic });
    expect(foreign.status).toBe(403);
    expect(api.mails).toEqual([]);
  });

  it.each([
    [{ link }, "email"],
    [{ email: "nobody", link }, "email"],
    [{ email: "new@example.com" }, "link"],
    [{ email: "new@example.com", link: "https://evil.example/" }, "link"],
    [{ email: "new@example.com", link: "javascript:alert(1)" }, "link"],
    [{ email: "new@example.com", link: `${link}?token=` }, "link"],
  ])("is refused as %j", async (json, param) => {
    const api = await openAccounts({ settings: { linkOrigins: ["https://app.example"] } });
    await api.join("ada@example.com");
    const refused = await api.send("POST", "/users/me/email", { basic, json });
    expect([refused.status, refused.json.param]).toEqual([400, param]);
  });

  it("that another user has by then is refused, and asking does not tell", async () => {
    const api = await openAccounts();
    await api.join("ada@example.com");
    await api.join("bob@example.com");
    const token = await ask(api, "bob@example.com");
    const refused = await api.send("PUT", `/email-changes/${token}`);
    expect([refused.status, refused.json.param]).toEqual([409, "email"]);
    expect((await api.signIn("ada@example.com")).status).toBe(201);
  });

  it("ends what was asked for before, and resets that were mailed to the former one", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const first = await ask(api, "one@example.com");
    const second = await ask(api, "two@example.com");
    const stored = await api.store.collection(api.context.user.collection).get(ada.id);
    if (stored === undefined) throw new Error("user not found");
    const reset = await issueToken(api.context, passwordResets, stored);
    expect((await api.send("PUT", `/email-changes/${second}`)).status).toBe(200);
    expect((await api.send("PUT", `/email-changes/${first}`)).status).toBe(404);
    expect((await api.send("GET", `/password-resets/${reset}`)).status).toBe(404);
  });

  it("is not set by a token after another password, a day, or for a user who is gone", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const root = await api.join("root@example.com", "admin");
    const first = await ask(api, "one@example.com");
    const change = { basic, json: { password } };
    expect((await api.send("PUT", "/users/me/password", change)).status).toBe(200);
    expect((await api.send("PUT", `/email-changes/${first}`)).status).toBe(404);
    const second = await ask(api, "one@example.com");
    vi.useFakeTimers({ now: Date.now() + 86_400_001, toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    expect((await api.send("PUT", `/email-changes/${second}`)).status).toBe(404);
    vi.useRealTimers();
    await api.send("DELETE", `/users/${ada.id}`, { token: root.token });
    expect((await api.send("PUT", `/email-changes/${second}`)).status).toBe(404);
    expect(await api.store.collection(emailChanges.collection).count()).toBe(0);
  });

  it("is set by one of many who use a token at once", async () => {
    const api = await openAccounts();
    await api.join("ada@example.com");
    const token = await ask(api, "one@example.com");
    const all = await Promise.all(
      Array.from({ length: 6 }, () => api.send("PUT", `/email-changes/${token}`)),
    );
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it("is asked for a few times only, and not at all where no mails are sent", async () => {
    const api = await openAccounts();
    await api.join("ada@example.com");
    const json = { email: "new@example.com", link };
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      statuses.push((await api.send("POST", "/users/me/email", { basic, json })).status);
    }
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
    const silent = await openAccounts({ hasMails: false });
    await silent.join("ada@example.com");
    expect((await silent.send("POST", "/users/me/email", { basic, json })).status).toBe(503);
  });

  it.each(["", "x", "a".repeat(43), "%00", "..%2f"])(
    "is not set by the token %j",
    async (token) => {
      const api = await openAccounts();
      const { status } = await api.send("PUT", `/email-changes/${token}`);
      expect(status === 404 || status === 400).toBe(true);
    },
  );
});
