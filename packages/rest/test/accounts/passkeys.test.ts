import { describe, expect, it, onTestFinished, vi } from "vitest";
import { challengeCollection } from "../../src/accounts/passkeys/passkey.ts";
import { masterKey } from "../api-client.ts";
import { openAccounts, password, type SignedIn, type TestAccounts } from "./open-accounts.ts";
import { type Made, softwareAuthenticator } from "./software-authenticator.ts";

async function register(api: TestAccounts, ada: SignedIn, made: Made = {}) {
  const authenticator = softwareAuthenticator(Buffer.from(ada.id).toString("base64url"));
  const begun = await api.send("POST", "/passkeys/registration-options", { token: ada.token });
  expect(begun.status).toBe(200);
  const response = authenticator.register(begun.json, made);
  const finish = () =>
    api.send("POST", "/passkeys", { token: ada.token, json: { name: "Laptop", response } });
  return { authenticator, begun: begun.json, finish, finished: await finish() };
}

async function signInWith(
  api: TestAccounts,
  authenticator: ReturnType<typeof softwareAuthenticator>,
  made: Made = {},
) {
  const begun = await api.send("POST", "/passkeys/sign-in-options");
  expect(begun.status).toBe(200);
  const response = authenticator.signIn(begun.json, made);
  const send = () => api.send("POST", "/passkeys/sign-in", { json: { response } });
  return { response, send, answer: await send() };
}

describe("a passkey", () => {
  it("is registered by its user, and signs in without password and second factor", async () => {
    const api = await openAccounts({ signIn: "public" });
    const ada = await api.join("ada@example.com");
    const { authenticator, begun, finished } = await register(api, ada);
    expect(begun).toMatchObject({
      rp: { id: "localhost", name: "Test" },
      user: { id: Buffer.from(ada.id).toString("base64url"), name: "ada@example.com" },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
    expect(finished.status).toBe(201);
    expect(finished.json).toMatchObject({ name: "Laptop", isBackedUp: false, usedAt: null });
    const { answer } = await signInWith(api, authenticator);
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ expiresIn: 86_400, user: { id: ada.id } });
    const sessions = await api.send("GET", "/users/me/sessions", { token: answer.json.token });
    expect(sessions.json[0]).toMatchObject({ method: "passkey", isCurrent: true });
    const listed = await api.send("GET", "/users/me/passkeys", { token: ada.token });
    expect(listed.json).toEqual([{ ...finished.json, usedAt: expect.any(String) }]);
  });

  it("signs a page of this origin in by a cookie, and no other page", async () => {
    const api = await openAccounts({ signIn: "public" });
    const { authenticator } = await register(api, await api.join("ada@example.com"));
    const { json: begun } = await api.send("POST", "/passkeys/sign-in-options");
    const json = { response: authenticator.signIn(begun), cookie: true };
    const send = (site: string) =>
      api.send("POST", "/passkeys/sign-in", { json, headers: { "sec-fetch-site": site } });
    const foreign = await send("cross-site");
    expect([foreign.status, foreign.headers.get("set-cookie")]).toEqual([403, null]);
    const { headers, json: answer, status } = await send("same-origin");
    expect([status, Object.keys(answer)]).toEqual([201, ["user"]]);
    const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const page = { cookie, "sec-fetch-site": "same-origin" };
    expect((await api.send("GET", "/users/me", { headers: page })).status).toBe(200);
  });

  it("needs the master key to sign in, unless sign-in is public", async () => {
    const api = await openAccounts();
    expect((await api.send("POST", "/passkeys/sign-in-options")).status).toBe(401);
    const begun = await api.send("POST", "/passkeys/sign-in-options", { token: masterKey });
    expect(begun.status).toBe(200);
    expect(begun.json).not.toHaveProperty("allowCredentials");
  });

  it.each<[string, Made]>([
    ["of another origin", { origin: "https://evil.example" }],
    ["of another relying party", { rpId: "evil.example" }],
    ["of another kind", { type: "webauthn.get" }],
    ["without verification of the user", { flags: 1 }],
    ["without presence of the user", { flags: 4 }],
  ])("%s is not registered", async (_what, made) => {
    const api = await openAccounts({ signIn: "public" });
    const { finished } = await register(api, await api.join("ada@example.com"), made);
    expect([finished.status, finished.json.detail]).toEqual([
      422,
      "the response of the passkey is invalid",
    ]);
  });

  it.each<[string, Made]>([
    ["of another origin", { origin: "https://evil.example" }],
    ["of another relying party", { rpId: "evil.example" }],
    ["of another kind", { type: "webauthn.create" }],
    ["without verification of the user", { flags: 1 }],
  ])("%s does not sign in", async (_what, made) => {
    const api = await openAccounts({ signIn: "public" });
    const { authenticator } = await register(api, await api.join("ada@example.com"));
    expect((await signInWith(api, authenticator, made)).answer.status).toBe(422);
  });

  it("that is unknown, or of another user than it says, does not sign in", async () => {
    const api = await openAccounts({ signIn: "public" });
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const { authenticator } = await register(api, ada);
    const unknown = await signInWith(api, softwareAuthenticator());
    expect(unknown.answer.status).toBe(401);
    const userHandle = Buffer.from(bob.id).toString("base64url");
    expect((await signInWith(api, authenticator, { userHandle })).answer.status).toBe(401);
  });

  it("answers each challenge once, and soon", async () => {
    const api = await openAccounts({ signIn: "public" });
    const ada = await api.join("ada@example.com");
    const { authenticator, finish } = await register(api, ada);
    expect((await finish()).status).toBe(422);
    const { send } = await signInWith(api, authenticator);
    expect((await send()).status).toBe(422);
    const begun = await api.send("POST", "/passkeys/sign-in-options");
    vi.useFakeTimers({ now: Date.now() + 300_001, toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const response = authenticator.signIn(begun.json);
    expect((await api.send("POST", "/passkeys/sign-in", { json: { response } })).status).toBe(422);
  });

  it("does not answer the challenge of another user, or of another purpose", async () => {
    const api = await openAccounts({ signIn: "public" });
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const begun = await api.send("POST", "/passkeys/registration-options", { token: ada.token });
    const response = softwareAuthenticator().register(begun.json);
    const json = { name: "n", response };
    expect((await api.send("POST", "/passkeys", { token: bob.token, json })).status).toBe(422);
    const { authenticator } = await register(api, ada);
    const forRegistration = await api.send("POST", "/passkeys/registration-options", {
      token: ada.token,
    });
    const { challenge } = forRegistration.json;
    const signed = authenticator.signIn({ challenge, rpId: "localhost" });
    const refused = await api.send("POST", "/passkeys/sign-in", { json: { response: signed } });
    expect(refused.status).toBe(422);
  });

  it("that counts backwards is a copy", async () => {
    const api = await openAccounts({ signIn: "public" });
    const { authenticator } = await register(api, await api.join("ada@example.com"));
    const begun = await api.send("POST", "/passkeys/sign-in-options");
    const early = authenticator.signIn(begun.json);
    expect((await signInWith(api, authenticator)).answer.status).toBe(201);
    const late = await api.send("POST", "/passkeys/sign-in", { json: { response: early } });
    expect(late.status).toBe(422);
  });

  it("is registered by one user once", async () => {
    const api = await openAccounts({ signIn: "public" });
    const ada = await api.join("ada@example.com");
    const { authenticator, begun } = await register(api, ada);
    const again = await api.send("POST", "/passkeys/registration-options", { token: ada.token });
    expect(again.json.excludeCredentials).toEqual([
      expect.objectContaining({ id: authenticator.credential }),
    ]);
    expect(again.json.challenge).not.toBe(begun.challenge);
    const json = { name: "n", response: authenticator.register(again.json) };
    expect((await api.send("POST", "/passkeys", { token: ada.token, json })).status).toBe(409);
  });

  it("needs a recent sign-in to be added, and its user or an admin to be removed", async () => {
    const api = await openAccounts({ signIn: "public" });
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const { authenticator, finished } = await register(api, ada);
    const path = `/users/${ada.id}/passkeys`;
    expect((await api.send("GET", path, { token: bob.token })).status).toBe(403);
    const one = `${path}/${finished.json.id}`;
    expect((await api.send("DELETE", one, { token: bob.token })).status).toBe(403);
    const foreign = `/users/me/passkeys/${finished.json.id}`;
    expect((await api.send("DELETE", foreign, { token: bob.token })).status).toBe(404);
    expect((await api.send("DELETE", one, { token: ada.token })).status).toBe(204);
    expect((await signInWith(api, authenticator)).answer.status).toBe(401);
    vi.useFakeTimers({ now: Date.now() + 901_000, toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const late = await api.send("POST", "/passkeys/registration-options", { token: ada.token });
    expect(late.status).toBe(403);
    expect((await api.send("POST", "/passkeys/registration-options")).status).toBe(401);
  });

  it.each([
    [{}],
    [{ response: {} }],
    [{ response: { id: "x", rawId: "x", type: "public-key", response: {} } }],
    [{ response: "text" }],
  ])("refuses %j as an answer", async (json) => {
    const api = await openAccounts({ signIn: "public" });
    expect((await api.send("POST", "/passkeys/sign-in", { json })).status).toBe(400);
  });

  it("keeps no challenge of nobody forever, and tells nothing of who has passkeys", async () => {
    const api = await openAccounts({ signIn: "public" });
    await api.create("ada@example.com");
    const { json } = await api.send("POST", "/passkeys/sign-in-options");
    expect(Object.keys(json).toSorted()).toEqual([
      "challenge",
      "rpId",
      "timeout",
      "userVerification",
    ]);
    const [stored] = await api.store.collection(challengeCollection).find({});
    expect(stored?.expiresAt).toBeLessThanOrEqual(Date.now() + 300_000);
    expect(
      (await api.signIn("ada@example.com", { basic: ["ada@example.com", password] })).status,
    ).toBe(201);
  });

  it("is not there without an origin", async () => {
    const { openApi } = await openAccounts({ settings: { origin: undefined } });
    expect(Object.keys(openApi.paths).filter((path) => path.includes("passkeys"))).toEqual([]);
  });
});
