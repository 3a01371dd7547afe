import type { Store } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import { createAuthentication } from "../src/accounts/create-authentication.ts";
import { type ApiOptions, createApi } from "../src/http/api.ts";
import type { OpenApiDocument } from "../src/openapi/openapi.ts";
import type { Route } from "../src/plan/route.ts";
import { masterKey, memoryStore } from "./api-client.ts";

/** An answer as tests look into it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- looked into as it comes
  readonly json: any;
}

const accounts = ["ann", "bob", "root"].map((id) => ({
  id,
  role: id === "root" ? "admin" : "user",
  passwordHash: "",
  sessionVersion: 1,
}));

/** Opens an API whose users are ann and bob, and root, who is an admin. */
export async function openAsUsers(
  routes: readonly Route[],
  options: Partial<ApiOptions> = {},
): Promise<{
  readonly store: Store;
  readonly openApi: OpenApiDocument;
  as(
    who: string,
    method: string,
    path: string,
    ...sent: readonly [body?: unknown, headers?: object]
  ): Promise<Answer>;
}> {
  const store = options.store ?? (await memoryStore());
  const authentication = createAuthentication({
    masterKey,
    jwtSecret: "j".repeat(32),
    accounts: {
      byId: async (wanted) => accounts.find(({ id }) => id === wanted),
      byEmail: async () => undefined,
    },
  });
  const api = createApi({ title: "T", version: "1", ...options, store, authentication, routes });
  const tokens = new Map([["master", masterKey]]);
  for (const account of accounts) {
    tokens.set(account.id, await authentication.tokens.issue(account));
  }
  return {
    store,
    openApi: api.openApi,
    async as(who, method, path, ...[body, headers]) {
      const token = tokens.get(who);
      const request = new Request(new URL(path, "http://localhost"), {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const response = await api.handler(request, createContext(request));
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        json: text === "" ? undefined : JSON.parse(text),
      };
    },
  };
}
