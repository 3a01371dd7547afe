import { openStore, type Store } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { createPortal, type PortalOptions } from "@fetchwork/webhooks/portal";
import { createSender, type Sender } from "@fetchwork/webhooks/sender";
import { onTestFinished } from "vitest";

export const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

/** A portal over a socket, whose requests carry their tenant. */
export interface PortalWorld {
  readonly store: Store;
  readonly sender: Sender;
  /** Of the page; ends with a slash. */
  readonly url: string;
  /** Where deliveries may go; `/bad` responds with 500 and hostile text. */
  readonly target: string;
  /** Paths of the deliveries that came. */
  readonly arrived: string[];
  /** Asks the API as a tenant. */
  ask(request: {
    readonly tenant?: string;
    readonly method?: string;
    readonly path: string;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  }): Promise<Answer>;
}

/** A response, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- JSON, which tests look into
  readonly body: any;
}

/** Starts a portal that ends with the test. The tenant is a cookie, or a bearer token. */
export async function openPortal(options: Partial<PortalOptions> = {}): Promise<PortalWorld> {
  const store = await openStore("sqlite::memory:");
  const sender = createSender({
    store,
    allowHttp: true,
    allowPrivate: true,
    pollInterval: 20,
    retry: { giveUpAfter: 1 },
    eventTypes: {
      "order.paid": { description: `An order is paid ${hostile}`, example: { total: 12 } },
      "order.lost": {},
    },
  });
  sender.start();
  const authorize: PortalOptions["authorize"] = ({ headers }) =>
    /^Bearer (.+)$/.exec(headers.get("authorization") ?? "")?.[1] ??
    /(?:^|; )tenant=([^;]+)/.exec(headers.get("cookie") ?? "")?.[1];
  const portal = createPortal(sender, { authorize, ...options });
  const arrived: string[] = [];
  const local = { port: 0, hostname: "127.0.0.1", signals: false } as const;
  const server = await serve((request) => portal(request), local);
  const receiver = await serve((request) => {
    const { pathname } = new URL(request.url);
    arrived.push(pathname);
    return new Response(hostile, { status: pathname === "/bad" ? 500 : 200 });
  }, local);
  onTestFinished(async () => {
    await sender.stop({ grace: 0 });
    await server.close({ gracePeriod: 0 });
    await receiver.close({ gracePeriod: 0 });
    await store.close();
  });
  const url = new URL("/webhooks/", server.url).href;
  return {
    store,
    sender,
    url,
    target: receiver.url.replace(/\/$/, ""),
    arrived,
    async ask({ tenant, method = "GET", path, body, headers = {} }) {
      const response = await fetch(`${url}api/${path}`, {
        method,
        redirect: "manual",
        headers: {
          ...(tenant !== undefined && { cookie: `tenant=${tenant}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === "" ? undefined : JSON.parse(text),
      };
    },
  };
}
