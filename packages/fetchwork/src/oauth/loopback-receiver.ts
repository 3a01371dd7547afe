import { text, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { constantTimeEqual } from "@fetchwork/kit";
import type { RedirectTarget } from "./redirect-target.ts";

/** A server on this machine that waits for the browser to come back, once. */
interface LoopbackReceiver {
  readonly redirectUri: string;
  /**
   * Waits for the one callback with this state and runs a function on it; the browser shows how
   * that went. Other requests are refused and change nothing.
   *
   * @throws what `finish` throws; the reason of the signal
   */
  receive<T>(expected: ExpectedCallback<T>): Promise<T>;
  close(): Promise<void>;
}

/** Callback for which {@link LoopbackReceiver.receive} waits. */
interface ExpectedCallback<T> {
  readonly state: string;
  readonly finish: (url: URL) => Promise<T>;
  readonly signal: AbortSignal;
}

/** Listens on the loopback interface only. */
export async function openLoopbackReceiver(target: RedirectTarget): Promise<LoopbackReceiver> {
  let respond: Handler = notYet;
  const server = await serve((request, context) => respond(request, context), {
    hostname: target.address,
    port: target.port,
    signals: false,
    maxConnections: 100,
    maxRequestBodySize: 0,
    requestTimeout: 10_000,
    gracePeriod: 1000,
    // The browser shows the failure; `receive` throws the details.
    reportError: () => {},
  });
  const host = `${target.host}:${server.port}`;
  const { path } = target;

  return {
    redirectUri: `http://${host}${path}`,
    async receive<T>({ state, finish, signal }: ExpectedCallback<T>): Promise<T> {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const stop = (): void => reject(reasonOf(signal));
      signal.addEventListener("abort", stop, { once: true });
      let isAnswered = false;
      respond = async (request) => {
        const url = new URL(request.url);
        // A name of another site that leads to this machine (DNS rebinding) comes with that name.
        if (request.headers.get("host") !== host)
          return page("This page does not belong to that host", 421);
        if (url.pathname !== path) return page("There is nothing here", 404);
        if (request.method !== "GET") return page("Only GET is answered here", 405);
        if (!constantTimeEqual(url.searchParams.get("state") ?? "", state)) {
          return page("This is not the response to the current sign-in", 400);
        }
        if (isAnswered) return page("This sign-in was answered before", 410);
        isAnswered = true;
        const result = finish(url);
        resolve(result);
        try {
          await result;
          return page("Signed in. You may close this window.", 200);
        } catch {
          return page(
            "Not signed in; see the terminal for the reason. You may close this window.",
            400,
          );
        }
      };
      try {
        return await promise;
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
    close: () => server.close(),
  };
}

function notYet(): Response {
  return page("There is nothing here yet", 404);
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}

/** Nothing in it comes from the request. */
function page(message: string, status: number): Response {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>fetchwork</title><p>${message}</p></html>\n`;
  return text(html, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
      connection: "close",
      ...(status === 405 ? { allow: "GET" } : {}),
    },
  });
}
