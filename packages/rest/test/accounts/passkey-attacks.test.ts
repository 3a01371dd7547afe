import { describe, expect, it } from "vitest";
import { issueToken, passwordResets } from "../../src/accounts/mails/mailed-tokens.ts";
import { passkeyCollection } from "../../src/accounts/passkeys/passkey.ts";
import { openAccounts, type SignedIn, type TestAccounts } from "./open-accounts.ts";
import { type SoftwareAuthenticator, softwareAuthenticator } from "./software-authenticator.ts";

async function beginSignIn({ send }: TestAccounts) {
  return (await send("POST", "/passkeys/sign-in-options")).json;
}

function finishSignIn({ send }: TestAccounts, response: object) {
  return send("POST", "/passkeys/sign-in", { json: { response } });
}

async function openWithPasskey(): Promise<{
  readonly api: TestAccounts;
  readonly ada: SignedIn;
  readonly bob: SignedIn;
  readonly authenticator: SoftwareAuthenticator;
}> {
  const api = await openAccounts({ signIn: "public" });
  const ada = await api.join("ada@example.com");
  const bob = await api.join("bob@example.com");
  const authenticator = softwareAuthenticator(Buffer.from(ada.id).toString("base64url"));
  const { token } = ada;
  const begun = await api.send("POST", "/passkeys/registration-options", { token });
  const json = { name: "n", response: authenticator.register(begun.json) };
  expect((await api.send("POST", "/passkeys", { token, json })).status).toBe(201);
  return { ada, api, authenticator, bob };
}

describe("a challenge of a passkey", () => {
  it("is answered once of many times at once", async () => {
    const { api, authenticator } = await openWithPasskey();
    const response = authenticator.signIn(await beginSignIn(api));
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => finishSignIn(api, response)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, 422, 422, 422, 422]);
  });

  it("that a wrong answer has used up is not good for a right one", async () => {
    const { api, authenticator } = await openWithPasskey();
    const options = await beginSignIn(api);
    const wrong = authenticator.signIn(options, { origin: "https://evil.example" });
    expect((await finishSignIn(api, wrong)).status).toBe(422);
    expect((await finishSignIn(api, authenticator.signIn(options))).status).toBe(422);
  });

  it("that was not given by the server is refused", async () => {
    const { api, authenticator } = await openWithPasskey();
    for (const challenge of ["", "x", "a".repeat(43), "../x", "%00", "\\0"]) {
      const response = authenticator.signIn({ challenge, rpId: "localhost" });
      expect((await finishSignIn(api, response)).status).toBe(422);
    }
  });

  it("of another user registers nothing, even with the passkey of the thief", async () => {
    const { ada, api, bob } = await openWithPasskey();
    const stolen = await api.send("POST", "/passkeys/registration-options", { token: ada.token });
    const thief = softwareAuthenticator(Buffer.from(ada.id).toString("base64url"));
    const json = { name: "n", response: thief.register(stolen.json) };
    expect((await api.send("POST", "/passkeys", { token: bob.token, json })).status).toBe(422);
    // The challenge is used up, for its user too.
    expect((await api.send("POST", "/passkeys", { token: ada.token, json })).status).toBe(422);
    expect(await api.store.collection(passkeyCollection).count()).toBe(1);
    const response = thief.signIn(await beginSignIn(api));
    expect((await finishSignIn(api, response)).status).toBe(401);
  });
});

describe("a passkey", () => {
  it("that another key has signed for does not sign in", async () => {
    const { api, authenticator } = await openWithPasskey();
    const forged = softwareAuthenticator().signIn(await beginSignIn(api));
    const { credential: id } = authenticator;
    expect((await finishSignIn(api, { ...forged, id, rawId: id })).status).toBe(422);
  });

  it("is guessed at a few times only, but signs in where it did before", async () => {
    const { api, authenticator } = await openWithPasskey();
    const { credential: id } = authenticator;
    const signIn = async () => finishSignIn(api, authenticator.signIn(await beginSignIn(api)));
    expect((await signIn()).status).toBe(201);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const forged = softwareAuthenticator().signIn(await beginSignIn(api));
        const response = { ...forged, id, rawId: id };
        const ip = `198.51.${index}.1`;
        return api.send("POST", "/passkeys/sign-in", { ip, json: { response } });
      }),
    );
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(80);
    expect((await signIn()).status).toBe(201);
  });

  it("of a removed user, and one that was removed, sign in no more", async () => {
    const { ada, api, authenticator } = await openWithPasskey();
    const root = await api.join("root@example.com", "admin");
    const first = authenticator.signIn(await beginSignIn(api));
    const second = authenticator.signIn(await beginSignIn(api));
    const [{ id }] = (await api.send("GET", "/users/me/passkeys", { token: ada.token })).json;
    const path = `/users/me/passkeys/${id}`;
    expect((await api.send("DELETE", path, { token: ada.token })).status).toBe(204);
    expect((await finishSignIn(api, first)).status).toBe(401);
    const other = await openWithPasskey();
    const { token } = await other.api.join("root@example.com", "admin");
    const late = other.authenticator.signIn(await beginSignIn(other.api));
    await other.api.send("DELETE", `/users/${other.ada.id}`, { token });
    expect((await finishSignIn(other.api, late)).status).toBe(401);
    expect(await other.api.store.collection(passkeyCollection).count()).toBe(0);
    await api.send("DELETE", `/users/${ada.id}`, { token: root.token });
    expect((await finishSignIn(api, second)).status).toBe(401);
  });

  it("of two that sign in at once keeps the higher count, so that its copy shows", async () => {
    const { api, authenticator } = await openWithPasskey();
    const options = await Promise.all([1, 2, 3, 4, 5, 6].map(() => beginSignIn(api)));
    const signed = options.map((one) => authenticator.signIn(one));
    await Promise.all(signed.toReversed().map((response) => finishSignIn(api, response)));
    const [stored] = await api.store.collection(passkeyCollection).find({});
    // One count was of the registration.
    expect(stored?.counter).toBe(7);
  });

  it("starts no session after a reset of the password that ended it", async () => {
    const { ada, api, authenticator } = await openWithPasskey();
    const users = api.store.collection(api.context.user.collection);
    const passkeys = api.context.passkeys ?? expect.fail();
    const token = await issueToken(
      api.context,
      passwordResets,
      (await users.get(ada.id)) ?? expect.fail(),
    );
    const signed = authenticator.signIn(await beginSignIn(api));
    const { userHandle: _, ...response } = signed.response;
    const type = "public-key";
    const found = await passkeys.finishSignIn(
      {
        ...signed,
        type,
        response,
        clientExtensionResults: {},
      },
      (_user, check) => check(),
    );
    const json = { password: "another one" };
    expect((await api.send("PUT", `/password-resets/${token}`, { json })).status).toBe(200);
    const client = { address: undefined, agent: undefined, method: "passkey" } as const;
    const beginning = api.context.sessions.begin(found ?? expect.fail(), client);
    await expect(beginning).rejects.toMatchObject({ status: 401 });
  });
});
