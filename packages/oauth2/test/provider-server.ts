import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { Provider, type Configuration, type KoaContextWithOIDC } from "oidc-provider";

/**
 * An OpenID provider that listens on this machine; everybody who comes is signed in as `user-1` and
 * consents.
 */
export interface ProviderServer {
  readonly issuer: string;
  readonly provider: Provider;
  close(): Promise<void>;
}

/** Starts `oidc-provider`. `tls` makes it listen with TLS. */
export async function startProvider(
  configuration: (issuer: string) => Configuration,
  tls?: ServerOptions,
): Promise<ProviderServer> {
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  const given = configuration(issuer);
  const provider = new Provider(issuer, {
    findAccount: (_ctx: KoaContextWithOIDC, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, name: "Ada", email: "ada@example.com", email_verified: true }),
    }),
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    cookies: { keys: ["a test key for cookies"] },
    loadExistingGrant: async (ctx: KoaContextWithOIDC) => grantAll(ctx),
    interactions: {
      url: (_ctx: KoaContextWithOIDC, { uid }: { readonly uid: string }) => `/interaction/${uid}`,
    },
    renderError: (ctx: KoaContextWithOIDC, out: object) => {
      ctx.body = JSON.stringify(out);
    },
    ...given,
    features: { devInteractions: { enabled: false }, ...given.features },
  });
  const handle = provider.callback();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith("/interaction/") === true) void signIn(provider, request, response);
    else void handle(request, response);
  });
  return { issuer, provider, close: () => closeServer(server) };
}

async function signIn(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await provider.interactionFinished(request, response, {
    login: { accountId: "user-1" },
    consent: {},
  });
}

async function grantAll(ctx: KoaContextWithOIDC): Promise<InstanceType<Provider["Grant"]>> {
  const { client, session, params, provider } = ctx.oidc;
  const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
  const scope = typeof params?.["scope"] === "string" ? params["scope"] : "openid";
  grant.addOIDCScope(scope);
  const resources: readonly unknown[] = [params?.["resource"]].flat();
  for (const resource of resources) {
    if (typeof resource === "string") grant.addResourceScope(resource, scope);
  }
  await grant.save();
  return grant;
}

/** Closes a server with its connections. */
export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

/** As much of a browser as a sign-in needs: cookies and redirects. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** Opens a URL and follows redirects, until one leads to `until` or there are no more. */
  async open(url: string | URL, until = "none", form?: Record<string, string>): Promise<Page> {
    let current = new URL(url);
    let body = form === undefined ? null : new URLSearchParams(form);
    for (let hop = 0; hop < 20; hop += 1) {
      const response = await fetch(current, {
        method: body === null ? "GET" : "POST",
        body,
        redirect: "manual",
        headers: { cookie: Array.from(this.#cookies, (pair) => pair.join("=")).join("; ") },
      });
      body = null;
      this.#keep(response.headers.getSetCookie());
      const location = response.headers.get("location");
      if (location === null) return { url: current, text: await response.text() };
      current = new URL(location, current);
      if (current.href.startsWith(until)) return { url: current, text: "" };
    }
    throw new Error("too many redirects");
  }

  #keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=");
      this.#cookies.set(name, value);
    }
  }
}

/** Where a {@link Browser} came to. */
export interface Page {
  readonly url: URL;
  readonly text: string;
}

/** Goes where a browser would go until it is sent to `until`; returns that URL. */
export async function browse(url: string, until: string): Promise<URL> {
  const page = await new Browser().open(url, until);
  if (page.url.href.startsWith(until)) return page.url;
  throw new Error(`no redirect to ${until}: ${page.text.slice(0, 800)}`);
}
