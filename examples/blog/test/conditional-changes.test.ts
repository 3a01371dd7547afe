import { describe, expect, it } from "vitest";
import { openApi, type Sending, type TestApi } from "./api-client.ts";

/** Operations without `If-Match`, and why it has no meaning there. */
const exceptions: Readonly<Record<string, string>> = {
  "DELETE /auth": "a session has no representation, and so no entity tag",
  "DELETE /users/{id}/links/{link}":
    "a link to a provider has no representation, and so no entity tag",
  "DELETE /auth/cookie": "a session has no representation, and so no entity tag",
  "DELETE /users/{id}/sessions": "a list of sessions has no entity tag",
  "DELETE /users/{id}/sessions/{session}": "a session is ended, whatever has become of it",
  "DELETE /users/{id}/keys/{key}": "a key is ended, whatever has become of it",
  "DELETE /users/{id}/passkeys/{passkey}": "a passkey is removed, whatever has become of it",
  "DELETE /users/{id}/totp": "a second factor has no representation, and so no entity tag",
  "PUT /email-changes/{token}": "a token can be used once, so no change can be lost",
  "PUT /password-resets/{token}": "a token can be used once, so no change can be lost",
};

interface Target {
  /** Address of something that exists. */
  readonly path: string;
  readonly sending: Sending;
  /** Token of the caller who changes it, as entity tags differ by caller. Default: an admin's. */
  readonly token?: string;
}

/** Creates what an operation changes, and makes a valid request of the operation. */
type MakeTarget = (api: TestApi, method: string) => Promise<Target>;

const documentAt =
  (collection: string, body: object, change: object): MakeTarget =>
  async (api, method) => {
    const { token } = await api.join("admin@example.com", "admin");
    const created = await api.send("POST", collection, { json: body, token });
    const json = method === "DELETE" ? undefined : change;
    return { path: created.headers.get("location") ?? "", sending: { json, token } };
  };

const targets: Readonly<Record<string, MakeTarget>> = {
  "/articles/{id}": documentAt("/articles", { title: "before" }, { title: "after" }),
  "/webhooks/{id}": documentAt(
    "/webhooks",
    { url: "https://example.com/" },
    { description: "after" },
  ),
  "/users/{id}": async (api, method) => {
    const { token } = await api.join("admin@example.com", "admin");
    const { id } = await api.join("user@example.com");
    const json = method === "DELETE" ? undefined : { name: "after" };
    return { path: `/users/${id}`, sending: { json, token } };
  },
  "/users/{id}/password": async (api) => {
    const { id, token } = await api.join("user@example.com");
    const json = { password: "another-password" };
    return {
      path: `/users/${id}/password`,
      sending: { json, basic: ["user@example.com", "123456"] },
      token,
    };
  },
  "/users/{id}/role": async (api) => {
    const { token } = await api.join("admin@example.com", "admin");
    const { id } = await api.join("user@example.com");
    return { path: `/users/${id}/role`, sending: { json: { role: "admin" }, token } };
  },
};

const provider = { name: "home", issuer: "http://127.0.0.1:9", clientId: "id", audience: "a" };
const settings = { providers: [provider], publicUrl: "http://localhost" };

interface Described {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly responses: Readonly<Record<string, unknown>> }>>
    >
  >;
}

/** Operations that change or remove what exists, as the OpenAPI document names them. */
function changesIn({ paths }: Described): readonly string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => ["put", "patch", "delete"].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}

const covered = Object.keys(targets).flatMap((path) => {
  const methods = /\/(?:password|role)$/.test(path)
    ? ["PUT"]
    : path.startsWith("/webhooks")
      ? ["PATCH", "DELETE"]
      : ["PUT", "PATCH", "DELETE"];
  return methods.map((method) => [method, path] as const);
});

describe("an operation that changes something", () => {
  it("is covered by these tests, or has a reason not to take If-Match", async () => {
    const api = await openApi("memory", settings);
    const { json } = await api.send("GET", "/openapi.json");
    const known = [...covered.map((row) => row.join(" ")), ...Object.keys(exceptions)];
    expect(changesIn(json).toSorted()).toEqual(known.toSorted());
  });

  it.each(covered)(
    "(%s %s) is done only in the version that If-Match names",
    async (method, at) => {
      const api = await openApi("memory", settings);
      const { json } = await api.send("GET", "/openapi.json");
      expect(json.paths[at][method.toLowerCase()].responses).toHaveProperty("412");
      const target = await (targets[at] ?? expect.fail())(api, method);
      const { path, sending } = target;
      const shownAt = path.replace(/\/(?:password|role)$/, "");
      const token = target.token ?? (await api.join("reader@example.com", "admin")).token;
      const before = await api.send("GET", shownAt, { token });
      const etag = before.headers.get("etag") ?? "";

      const stale = { "if-match": '"no-such-version"' };
      expect((await api.send(method, path, { ...sending, headers: stale })).status).toBe(412);
      const present = { "if-none-match": "*" };
      expect((await api.send(method, path, { ...sending, headers: present })).status).toBe(412);
      const after = await api.send("GET", shownAt, { token });
      expect([after.json, after.headers.get("etag")]).toEqual([before.json, etag]);

      const current = { "if-match": etag };
      const done = await api.send(method, path, { ...sending, headers: current });
      expect(done.status).toBe(method === "DELETE" ? 204 : 200);
    },
  );
});
