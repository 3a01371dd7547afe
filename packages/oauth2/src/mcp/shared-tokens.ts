import { OAuth2Client } from "../client/client.ts";
import { OAuth2Error, OAuth2UsageError, TokenUnavailableError } from "../errors.ts";
import { TokenManager } from "../manager/token-manager.ts";
import { MemoryTokenStore, type TokenStore } from "../store/token-store.ts";
import { AccessToken } from "../token/access-token.ts";
import type { TokenHash } from "../token/token-hash.ts";
import type { McpAuthorizationOptions } from "./mcp-options.ts";

/** Errors of a refresh after which only another sign-in helps. */
const finalErrors: readonly unknown[] = ["invalid_grant", "invalid_client", "unauthorized_client"];

/** Parameters of the exchange of a code that each refresh repeats. */
const repeatedParams = ["client_id", "client_secret", "resource"];

/** The tokens of one sign-in, kept fresh by a `TokenManager`, and what else is stored next to them. */
export class SharedTokens {
  readonly #store: TokenStore;
  readonly #key: string;
  readonly #send: typeof fetch;
  /** How the code of the sign-in that is under way was exchanged: each refresh is sent in the same way. */
  #exchange: TokenHash | undefined;
  /** The same of the sign-in that the manager belongs to, as text. */
  #grant: string | undefined;
  #manager: TokenManager | undefined;
  /** The last tokens that the client got; it may still send an older one. */
  #given: readonly string[] = [];
  /** Identifier of the authorization server. */
  issuer: string | undefined;

  constructor(options: McpAuthorizationOptions) {
    const { store = new MemoryTokenStore(), key = "mcp", fetch: send = fetch } = options;
    this.#store = store;
    this.#key = key;
    // The `fetch` of some platforms must not be called as a method.
    this.#send = (input, init) => send(input, init);
  }

  async read(name: string): Promise<TokenHash | undefined> {
    return this.#store.get(`${this.#key} ${name}`);
  }

  async write(name: string, value: object): Promise<void> {
    await this.#store.set(`${this.#key} ${name}`, { ...value });
  }

  async remove(name: string): Promise<void> {
    await this.#store.delete(`${this.#key} ${name}`);
  }

  /**
   * Returns a token that is good, other than the one that was refused; `undefined` where only a sign-in helps.
   *
   * @throws what a refresh throws that may succeed later; TokenStoreError
   */
  async get(refusedToken?: string, signal?: AbortSignal | null): Promise<AccessToken | undefined> {
    const current = this.#manager?.peek();
    if (current !== undefined && current.token !== refusedToken) return this.#remember(current);
    const manager = await this.#load();
    if (manager === undefined) return undefined;
    const refused = refusedToken ? new AccessToken(manager.client, refusedToken) : undefined;
    try {
      return this.#remember(await manager.getToken({ refused, signal }));
    } catch (error) {
      const isFinal = error instanceof OAuth2Error && finalErrors.includes(error.code);
      if (isFinal || error instanceof TokenUnavailableError) return undefined;
      throw error;
    }
  }

  /**
   * Stores what a sign-in brought.
   *
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when the code was exchanged with another `fetch`; TokenStoreError
   */
  async save(fields: TokenHash, issuer: string | undefined): Promise<void> {
    const exchange = this.#exchange;
    if (exchange === undefined) {
      const message = "the transport and auth() must be given the fetch of mcpAuthorization";
      throw new OAuth2UsageError("ERR_OAUTH_OPTION", message);
    }
    this.#exchange = undefined;
    await this.write("grant", { ...exchange, issuer });
    const manager = await this.#load();
    if (manager === undefined) throw new TokenUnavailableError("the store lost the sign-in");
    const { resource } = exchange;
    const refreshParams = typeof resource === "string" ? { resource } : {};
    await manager.set(AccessToken.fromFields(manager.client, fields, { refreshParams }));
  }

  async clear(): Promise<void> {
    await (await this.#load())?.clear();
    await this.remove("grant");
    await this.#load();
  }

  /** Sends a request, and once more with another token when the server refuses one that the client got here. */
  readonly fetch: typeof fetch = async (input, init) => {
    const response = await this.#send(input, init);
    if (response.ok) this.#learn(input, init);
    const headers = new Headers(init?.headers);
    const refused = headers.get("authorization")?.replace(/^Bearer /i, "") ?? "";
    // Other bodies can be read only once.
    const isRepeatable = typeof (init?.body ?? "") === "string" && this.#given.includes(refused);
    if (response.status !== 401 || !isRepeatable) return response;
    const fresh = await this.get(refused, init?.signal);
    if (fresh === undefined || fresh.token === refused) return response;
    await response.body?.cancel();
    headers.set("authorization", `Bearer ${fresh.token}`);
    return this.#send(input, { ...init, headers });
  };

  #remember(token: AccessToken): AccessToken {
    const isKnown = this.#given.includes(token.token);
    if (!isKnown) this.#given = [...this.#given.slice(-15), token.token];
    return token;
  }

  #learn(input: RequestInfo | URL, init: RequestInit | undefined): void {
    const body = init?.body;
    if (!(body instanceof URLSearchParams || typeof body === "string")) return;
    const form = new URLSearchParams(body);
    if (form.get("grant_type") !== "authorization_code") return;
    const authorization = new Headers(init?.headers).get("authorization");
    const token_endpoint = input instanceof Request ? input.url : String(input);
    const params = [...form].filter(([name]) => repeatedParams.includes(name));
    this.#exchange = { ...Object.fromEntries(params), token_endpoint, authorization };
  }

  /** Makes the manager, again where another process has signed in since. */
  async #load(): Promise<TokenManager | undefined> {
    const grant = await this.read("grant");
    const text = JSON.stringify(grant);
    if (text === this.#grant) return this.#manager;
    this.#grant = text;
    this.#manager = undefined;
    if (grant === undefined) return undefined;
    const { authorization, token_endpoint } = grant;
    const [issuer, id, secret] = ["issuer", "client_id", "client_secret"].map((name) =>
      typeof grant[name] === "string" ? grant[name] : undefined,
    );
    this.issuer = issuer;
    const client = new OAuth2Client(id ?? "", secret ?? "", {
      tokenUrl: String(token_endpoint),
      fetch: (request) => this.#send(request),
      authScheme: ({ headers, body }) => {
        if (typeof authorization === "string") headers.set("authorization", authorization);
        if (id !== undefined) body.set("client_id", id);
        if (secret !== undefined) body.set("client_secret", secret);
      },
    });
    this.#manager = new TokenManager(client, { store: this.#store, key: this.#key });
    return this.#manager;
  }
}
