import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { json, text } from "@fetchwork/http";
import { constantTimeEqual, isLoopbackHost } from "@fetchwork/kit";
import type { Forwarder } from "./forward.ts";
import type { SeenDelivery } from "./seen-delivery.ts";

/** A delivery as the page shows it. */
export interface ShownDelivery extends Omit<SeenDelivery, "file" | "milliseconds" | "payload"> {
  /** The payload as text, perhaps truncated. */
  readonly payload: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The page of the last deliveries. */
export interface ListenPage {
  /** Secret; the page sends it with each request. */
  readonly token: string;
  add(delivery: ShownDelivery): void;
  /** Responds to requests for the page, its files or its data; `undefined` for all others. */
  respond(request: Request): Promise<Response | undefined>;
}

/** Files of the page, below the assets of `@fetchwork/webhooks`. They have no data. */
const files: ReadonlyMap<string, readonly [path: string, contentType: string]> = new Map([
  ["/", ["listen/listen.html", "text/html; charset=utf-8"]],
  ["/listen/listen.js", ["listen/listen.js", "text/javascript; charset=utf-8"]],
  ["/portal/elements.js", ["portal/elements.js", "text/javascript; charset=utf-8"]],
  ["/portal/portal.css", ["portal/portal.css", "text/css; charset=utf-8"]],
]);

const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** Deliveries that are kept. */
const kept = 20;

/**
 * Makes the page of `listen`. It is there for requests to a name of this machine only, against DNS
 * rebinding. Deliveries are shown and replayed only with the token. No page of another origin and
 * no visitor of a tunnel to the listener has it.
 */
export function createListenPage(forwarder: Forwarder | undefined): ListenPage {
  const token = randomBytes(24).toString("base64url");
  let deliveries: readonly (ShownDelivery & { readonly version: number })[] = [];
  let version = 0;

  function isAllowed(request: Request): boolean {
    const given = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
    return constantTimeEqual(given, token);
  }

  async function replay(query: URLSearchParams): Promise<Response> {
    const response = await forwarder?.replay(Number(query.get("number") ?? undefined));
    return response === undefined
      ? text("delivery not found\n", { status: 404, headers })
      : json(response, { headers });
  }

  return {
    token,
    add(delivery) {
      version += 1;
      deliveries = [...deliveries, { ...delivery, version }].slice(-kept);
    },
    async respond(request) {
      const { hostname, pathname, searchParams } = new URL(request.url);
      const call = `${request.method} ${pathname}`;
      if (!isLoopbackHost(hostname)) return undefined;
      if (call === "GET /listen/deliveries" || call === "POST /listen/replay") {
        if (!isAllowed(request)) return text("the token is missing\n", { status: 401, headers });
        if (call === "POST /listen/replay") return replay(searchParams);
        const after = Number(searchParams.get("after"));
        const later = deliveries.filter((each) => each.version > after);
        return json({ deliveries: later, forwardsTo: forwarder?.shownUrl }, { headers });
      }
      const file = request.method === "GET" ? files.get(pathname) : undefined;
      if (file === undefined) return undefined;
      const [path, contentType] = file;
      const content = await readFile(join(assetsFolder(), path), "utf8");
      return new Response(content, { headers: { ...headers, "content-type": contentType } });
    },
  };
}

function assetsFolder(): string {
  const { resolve } = createRequire(import.meta.url);
  return join(dirname(resolve("@fetchwork/webhooks/package.json")), "assets");
}
