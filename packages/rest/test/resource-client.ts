import type { Store } from "@fetchwork/documents";
import { createAuthentication } from "../src/accounts/create-authentication.ts";
import type { Authentication } from "../src/http/authentication.ts";
import { resourceRoutes } from "../src/http/resource-routes.ts";
import { createResourceController } from "../src/operations/resource-controller.ts";
import type { Route } from "../src/plan/route.ts";
import type { Resource } from "../src/resource/resource.ts";
import type { Schema } from "../src/schema.ts";
import { masterKey, memoryStore, openApi } from "./api-client.ts";

const users = ["ann", "bob", "root"].map((id) => ({
  id,
  role: id === "root" ? "admin" : "user",
  passwordHash: "",
  sessionVersion: 1,
}));

/** An authentication that knows the users `ann` and `bob`, and the admin `root`. */
export function withUsers(): Authentication {
  return createAuthentication({
    masterKey,
    jwtSecret: "j".repeat(32),
    accounts: {
      byId: async (wanted) => users.find(({ id }) => id === wanted),
      byEmail: async () => undefined,
    },
  });
}

/** An answer as tests look at it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

/** An API of one resource with a function that calls it as a user; nobody is `""`. */
export async function openResource<S extends Schema, Plural extends string, Shown>(
  resource: Resource<S, Plural, Shown>,
  {
    extra = [],
    reportError,
  }: {
    readonly extra?: readonly Route[];
    readonly reportError?: (error: unknown) => void;
  } = {},
): Promise<{
  readonly store: Store;
  as(
    id: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
}> {
  const authentication = withUsers();
  const store = await memoryStore();
  const routes = [...resourceRoutes(resource, createResourceController(resource)), ...extra];
  const { send } = await openApi({ routes, authentication, store, reportError });
  return {
    store,
    async as(...[id, method, path, body, headers = {}]) {
      const user = users.find((one) => one.id === id);
      const token = id === "master" ? masterKey : user && (await authentication.tokens.issue(user));
      const response = await send(method, path, {
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        json: text === "" ? undefined : (JSON.parse(text) as unknown),
      };
    },
  };
}
