import type { Store, Transaction } from "@fetchwork/documents";
import { runHandler } from "@fetchwork/http";
import {
  openService,
  type OpenService,
  readStartSettings,
  type Service,
  type StartSettings,
} from "@fetchwork/service";
import type { ShownRequest } from "../finding.ts";
import type { Caller } from "../caller.ts";

type Method = (...given: never[]) => unknown;
type Work = (transaction: Transaction) => unknown;

const changing = /^(?:increment|insert|purge|remove|replace|restore|update|upsert)/;
const secrets = {
  MASTER_KEY: "verify-master-key-verify-master-key",
  JWT_SECRET: "verify-jwt-secret-verify-jwt-secret",
  PUBLIC_URL: "http://localhost",
  SIGN_IN_LIMIT: "0",
  SIGN_IN_FAILURES: "0",
  LOG: "off",
};

/** A request of a caller. */
export interface SentRequest {
  readonly caller: Pick<Caller, "token">;
  readonly request: ShownRequest;
  /** Number of changes after which the process ends. Default: it does not end. */
  readonly changes?: number | undefined;
}

/** A service on a store that may fail, without what leaves the process. */
export interface FragileService {
  readonly opened: OpenService;
  readonly masterKey: StartSettings["masterKey"];
  /** Resolves to nothing when the process has ended before it has responded. */
  readonly handle: (sent: SentRequest) => Promise<Response | undefined>;
}

/**
 * Opens a service on a store that may fail: after a number of changes, none is stored.
 *
 * @param given - Settings in addition to those that are needed.
 * @param end - Ends the process. Default: changes only fail, as if it had ended.
 */
export function openFragile(
  service: Service,
  store: Store,
  given: Readonly<Record<string, string>>,
  end: () => void = () => undefined,
): FragileService {
  const settings = readStartSettings(service, { ...secrets, ...given });
  let left = Infinity;
  const opened = openService(service, fragile(), {
    settings,
    mailer: { send: () => Promise.resolve() },
    logs: {
      started: () => undefined,
      noted: () => undefined,
      warned: (message) => console.warn(message),
      failed: (error) => left !== Infinity || console.error(error),
    },
  });
  return { opened, masterKey: settings.masterKey, handle };

  async function handle(sent: SentRequest): Promise<Response | undefined> {
    left = sent.changes ?? Infinity;
    const response = await runHandler(opened.handler, requestOf(sent));
    const hasEnded = left < 0;
    left = Infinity;
    return hasEnded ? undefined : response;
  }

  function count(): void {
    left -= 1;
    if (left >= 0) return;
    end();
    throw new Error("the process has ended");
  }

  /** A transaction counts as one change, once it is committed. */
  function fragile(): Store {
    const together = (work: Work, options: object): Promise<unknown> =>
      store.transaction(async (transaction) => {
        let hasChanged = false;
        const result = await work(watched(transaction, () => (hasChanged = true)));
        if (hasChanged) count();
        return result;
      }, options);
    return proxied(watched(store, count), (name, method) =>
      name === "transaction" ? together : method,
    );
  }
}

/** A request as it is sent. */
function requestOf({ caller: { token }, request }: SentRequest): Request {
  const { body, idempotencyKey, ifMatch, method, path } = request;
  const headers = new Headers();
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  if (ifMatch !== undefined) headers.set("if-match", ifMatch);
  const text = body === undefined ? null : JSON.stringify(body);
  return new Request(new URL(path, "http://localhost"), { method, headers, body: text });
}

/** A store or transaction that calls a function before each change of a collection. */
function watched<T extends Store | Transaction>(target: T, onChange: () => void): T {
  const changed = (name: string, method: Method): Method =>
    changing.test(name) ? (...given) => (onChange(), method(...given)) : method;
  return proxied(target, (name, method) =>
    name === "collection"
      ? (...given) => proxied(Object(method(...given)) as object, changed)
      : method,
  );
}

/** Replaces methods of an object. Private fields need the object itself as `this`. */
function proxied<T extends object>(
  target: T,
  methodFor: (name: string, method: Method) => Method,
): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name !== "string") return value;
      return methodFor(name, value.bind(target) as Method);
    },
  });
}
