import { openStore, type Store } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import { onTestFinished } from "vitest";
import { createAuthentication } from "../src/accounts/create-authentication.ts";
import { type Api, type ApiOptions, createApi } from "../src/http/api.ts";
import type { Authentication } from "../src/http/authentication.ts";

export const masterKey = "m".repeat(32);

/** An authentication without users. */
export function noAccounts(): Authentication {
  return createAuthentication({
    masterKey,
    jwtSecret: "j".repeat(32),
    accounts: { byId: async () => undefined, byEmail: async () => undefined },
  });
}

/**
 * Opens an empty store, closed when the test ends: in memory, unless {@link useStores} names
 * others.
 */
export function memoryStore(): Promise<Store> {
  return open();
}

/** Lets the tests of a file that follow use other stores. */
export function useStores(openOne: () => Promise<Store>): void {
  open = openOne;
}

let open = async (): Promise<Store> => {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  return store;
};

/** An API of the given routes with a function that calls it. */
export async function openApi(options: Pick<ApiOptions, "routes"> & Partial<ApiOptions>): Promise<{
  readonly api: Api;
  send(method: string, path: string, init?: RequestInit): Promise<Response>;
}> {
  const api = createApi({
    title: "Test",
    version: "1.0.0",
    authentication: noAccounts(),
    ...options,
    store: options.store ?? (await memoryStore()),
  });
  return {
    api,
    async send(method, path, init) {
      const request = new Request(new URL(path, "http://localhost"), { ...init, method });
      return api.handler(request, createContext(request));
    },
  };
}
