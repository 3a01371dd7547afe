import type { Store } from "@fetchwork/documents";
import {
  openService,
  type OpenService,
  readStartSettings,
  type Service,
  type StartSettings,
} from "@fetchwork/service";
import { FragileStore } from "./fragile-store.ts";

const secrets = {
  MASTER_KEY: "verify-master-key-verify-master-key",
  JWT_SECRET: "verify-jwt-secret-verify-jwt-secret",
  PUBLIC_URL: "http://localhost",
  SIGN_IN_LIMIT: "0",
  SIGN_IN_FAILURES: "0",
  LOG: "off",
};

/** How a service is opened on a store. */
export interface FragileOptions {
  /** Settings in addition to those that are needed. */
  readonly settings: Readonly<Record<string, string>>;
  /** Ends the process. Default: the store fails, as if it had ended. */
  readonly end?: () => void;
}

/** Opens a service, without what leaves the process, on a store that may fail. */
export function openFragile(
  service: Service,
  store: Store,
  { settings: given, end }: FragileOptions,
): {
  readonly fragile: FragileStore;
  readonly opened: OpenService;
  readonly settings: StartSettings;
} {
  const settings = readStartSettings(service, { ...secrets, ...given });
  const fragile = new FragileStore(store, end);
  const opened = openService(service, fragile.store, {
    settings,
    mailer: { send: () => Promise.resolve() },
    logs: {
      started: () => undefined,
      noted: () => undefined,
      warned: (message) => console.warn(message),
      failed: (error) => fragile.isEnding || console.error(error),
    },
  });
  return { fragile, opened, settings };
}
