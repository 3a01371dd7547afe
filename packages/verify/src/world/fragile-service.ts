import type { Store } from "@fetchwork/documents";
import { runHandler } from "@fetchwork/http";
import {
  openService,
  type OpenService,
  readStartSettings,
  type Service,
  type StartSettings,
} from "@fetchwork/service";
import type { ShownRequest } from "../finding.ts";
import type { Caller } from "./caller.ts";
import { FragileStore } from "./fragile-store.ts";
import { requestOf } from "./request-of.ts";

const secrets = {
  MASTER_KEY: "verify-master-key-verify-master-key",
  JWT_SECRET: "verify-jwt-secret-verify-jwt-secret",
  PUBLIC_URL: "http://localhost",
  SIGN_IN_LIMIT: "0",
  SIGN_IN_FAILURES: "0",
  LOG: "off",
};

/** A request whose process ends after a number of changes. */
export interface FatalRequest {
  readonly caller: Pick<Caller, "token">;
  readonly request: ShownRequest;
  readonly changes: number;
}

/** A service on a store that may fail, without what leaves the process. */
export interface FragileService {
  readonly opened: OpenService;
  readonly masterKey: StartSettings["masterKey"];
  /** Resolves to nothing when the process has ended before it has responded. */
  readonly handle: (fatal: FatalRequest) => Promise<Response | undefined>;
}

/**
 * Opens a service on a store that may fail.
 *
 * @param given - Settings in addition to those that are needed.
 * @param end - Ends the process. Default: the store fails, as if it had ended.
 */
export function openFragile(
  service: Service,
  store: Store,
  given: Readonly<Record<string, string>>,
  end?: () => void,
): FragileService {
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
  const handle = ({ caller, changes, request }: FatalRequest): Promise<Response | undefined> =>
    fragile.endAfter(changes, async () => runHandler(opened.handler, requestOf(caller, request)));
  return { opened, masterKey: settings.masterKey, handle };
}
