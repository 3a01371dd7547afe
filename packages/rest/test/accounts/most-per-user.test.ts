import { expect, it } from "vitest";
import { apiKeyCollection } from "../../src/accounts/keys/api-key.ts";
import { passkeyCollection } from "../../src/accounts/passkeys/passkey.ts";
import { openAccounts } from "./open-accounts.ts";
import { softwareAuthenticator } from "./software-authenticator.ts";

const twenty = Array.from({ length: 20 }, (_, index) => index);

/** How many of the responses have which status. */
function byStatus(responses: readonly { readonly status: number }[]): Record<number, number> {
  const found: Record<number, number> = {};
  for (const { status } of responses) found[status] = (found[status] ?? 0) + 1;
  return found;
}

it("A user has at most 100 API keys, also when the last one is made 20 times at once", async () => {
  const { join, send, store } = await openAccounts();
  const { id: user, token } = await join("ada@example.com");
  const keys = store.collection(apiKeyCollection);
  const key = { user, name: "n", hash: "", scopes: ["*:read"], usedAt: null };
  await Promise.all(Array.from({ length: 99 }, () => keys.insert(key)));
  const json = { name: "n", scopes: ["*:read"] };
  const made = await Promise.all(twenty.map(() => send("POST", "/users/me/keys", { token, json })));
  expect(await keys.count({ where: { user } })).toBe(100);
  expect(byStatus(made)).toEqual({ 201: 1, 409: 19 });
});

it("A user has at most 50 passkeys, also when the last one is registered 20 times at once", async () => {
  const { join, send, store } = await openAccounts();
  const { id: user, token } = await join("ada@example.com");
  const passkeys = store.collection(passkeyCollection);
  const passkey = { user, name: "p", credential: "AAAA", publicKey: "", counter: 0 };
  await Promise.all(
    Array.from({ length: 49 }, () =>
      passkeys.insert({ ...passkey, transports: [], isBackedUp: false, usedAt: null }),
    ),
  );
  const responses = await Promise.all(
    twenty.map(async () => {
      const { json } = await send("POST", "/passkeys/registration-options", { token });
      return softwareAuthenticator(Buffer.from(user).toString("base64url")).register(json, {});
    }),
  );
  const made = await Promise.all(
    responses.map((response) =>
      send("POST", "/passkeys", { token, json: { name: "Laptop", response } }),
    ),
  );
  expect(await passkeys.count({ where: { user } })).toBe(50);
  expect(byStatus(made)).toEqual({ 201: 1, 409: 19 });
});
