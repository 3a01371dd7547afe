import { OAuth2Client } from "../client/client.ts";
import { OAuth2Error, OAuth2UsageError, TokenUnavailableError } from "../errors.ts";
import { TokenManager } from "../manager/token-manager.ts";
import { MemoryTokenStore, type TokenStore } from "../store/token-store.ts";
import { AccessToken } from "../token/access-token.ts";
import type { TokenHash } from "../token/token-hash.ts";

/** Metadata of a client, as it is registered (RFC 7591, 2). */
export interface McpClientMetadata {
  redirect_uris: string[];
  grant_types?: string[];
  response_types?: string[];
  client_name?: string;
  client_uri?: string;
  logo_uri?: string;
  scope?: string;
  token_endpoint_auth_method?: string;
}

/** A registered client. */
export interface McpClientInformation {
  client_id: string;
  client_secret?: string | undefined;
  /** Identifier of the authorization server that knows the client; others do not get its secret. */
  issuer?: string | undefined;
}

/** Options of `mcpAuthorization`. */
export interface McpAuthorizationOptions {
  /** Where tokens and the state of a sign-in are stored. Default: in memory. */
  readonly store?: TokenStore | undefined;
  /** Key in the store and prefix of others, per user and server. Default: `mcp`. */
  readonly key?: string | undefined;
  /** Where the authorization server sends the user back to. */
  readonly redirectUrl: string | URL;
  /** Sends the user to sign in. */
  readonly redirect: (url: URL) => void | Promise<void>;
  /** Further metadata for registration. Default: `redirect_uris`, `grant_types`. */
  readonly clientMetadata?: Partial<McpClientMetadata> | undefined;
  /** URL of the client's metadata document (CIMD), for servers that take one. Default: none. */
  readonly clientMetadataUrl?: string | undefined;
  /** A registered client; the AI SDK wants its `issuer`. Default: registered on demand. */
  readonly client?: McpClientInformation | undefined;
  /** Sends requests. Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch | undefined;
}

/** Errors of a refresh after which only another sign-in helps. */
const finalErrors: readonly unknown[] = ["invalid_grant", "invalid_client", "unauthorized_client"];

/** Parameters of the exchange of a code that each refresh repeats. */
const repeatedParams = ["client_id", "client_secret", "resource"];

/** Provider of an MCP client, by `mcpAuthorization`; no refresh token leaves it. */
export class McpOAuthProvider {
  readonly redirectUrl: string | URL;
  readonly redirectToAuthorization: (url: URL) => void | Promise<void>;
  readonly clientMetadata: McpClientMetadata;
  readonly clientMetadataUrl?: string;
  readonly #client: McpClientInformation | undefined;
  readonly #store: TokenStore;
  readonly #key: string;
  readonly #send: typeof fetch;
  /** How the code of the current sign-in was exchanged: each refresh is sent in the same way. */
  #exchange: TokenHash | undefined;
  /** The same of the sign-in that the manager belongs to, with the issuer. */
  #grant: TokenHash | undefined;
  #manager: TokenManager | undefined;
  /** The last tokens that the client got; it may still send an older one. */
  #given: readonly string[] = [];

  /** @internal */
  constructor(options: McpAuthorizationOptions) {
    const { store = new MemoryTokenStore(), key = "mcp", fetch: send = fetch } = options;
    this.redirectUrl = options.redirectUrl;
    this.redirectToAuthorization = options.redirect;
    const redirect_uris = [String(options.redirectUrl)];
    const grant_types = ["authorization_code", "refresh_token"];
    this.clientMetadata = { redirect_uris, grant_types, ...options.clientMetadata };
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
    this.#client = options.client;
    this.#store = store;
    this.#key = key;
    // The `fetch` of some platforms must not be called as a method.
    this.#send = (input, init) => send(input, init);
  }

  /**
   * Returns a good token, refreshed where it is due; `undefined` where only a sign-in helps.
   *
   * @throws what a refresh throws that may succeed later; TokenStoreError
   */
  async tokens(): Promise<
    { access_token: string; token_type: string; scope?: string; issuer?: string } | undefined
  > {
    const { token: access_token, tokenType, scope } = (await this.#get()) ?? {};
    if (access_token === undefined) return undefined;
    this.#given = [...new Set([...this.#given, access_token])].slice(-16);
    const issuer = this.#grant?.["issuer"];
    const optional = { ...(scope && { scope }), ...(typeof issuer === "string" && { issuer }) };
    return { access_token, token_type: tokenType ?? "Bearer", ...optional };
  }

  /** @throws OAuth2UsageError `ERR_OAUTH_OPTION` when another `fetch` exchanged the code */
  async saveTokens(tokens: { access_token: string; issuer?: string | undefined }): Promise<void> {
    const { issuer, ...fields } = tokens;
    const exchange = this.#exchange;
    if (exchange === undefined) {
      const message = "the transport and auth() must be given the fetch of mcpAuthorization";
      throw new OAuth2UsageError("ERR_OAUTH_OPTION", message);
    }
    this.#exchange = undefined;
    await this.#write("grant", { ...exchange, issuer });
    const manager = await this.#load();
    if (manager === undefined) throw new TokenUnavailableError("the store lost the sign-in");
    await manager.set(AccessToken.fromFields(manager.client, fields));
    await this.invalidateCredentials("verifier");
  }

  /** Returns a new `state`, and stores it for {@link McpOAuthProvider.storedState}. */
  async state(): Promise<string> {
    const state = crypto.randomUUID();
    await this.#write("state", { state });
    return state;
  }

  /** Returns the `state` of the sign-in that was begun last, with which the callback must come. */
  async storedState(): Promise<string | undefined> {
    const state = (await this.#read("state"))?.["state"];
    return typeof state === "string" ? state : undefined;
  }

  async saveCodeVerifier(verifier: string): Promise<void> {
    await this.#write("verifier", { verifier });
  }

  /** @throws TokenUnavailableError when no sign-in was begun */
  async codeVerifier(): Promise<string> {
    const verifier = (await this.#read("verifier"))?.["verifier"];
    if (typeof verifier !== "string") throw new TokenUnavailableError("no sign-in was begun");
    return verifier;
  }

  /** The client with what the SDK has stored of it, such as its issuer. */
  async clientInformation(): Promise<McpClientInformation | undefined> {
    const stored = await this.#read("client");
    const client_id = stored?.["client_id"];
    const isCurrent = client_id === (this.#client?.client_id ?? client_id);
    return typeof client_id === "string" && isCurrent ? { ...stored, client_id } : this.#client;
  }

  async saveClientInformation(client: McpClientInformation): Promise<void> {
    await this.#write("client", client);
  }

  isClientInformationDynamicallyRegistered(): boolean {
    return this.#client === undefined;
  }

  async discoveryState(): Promise<{ authorizationServerUrl: string } | undefined> {
    const stored = await this.#read("server");
    const url = stored?.["authorizationServerUrl"];
    return typeof url === "string" ? { ...stored, authorizationServerUrl: url } : undefined;
  }

  async saveDiscoveryState(state: { authorizationServerUrl: string }): Promise<void> {
    await this.#write("server", state);
  }

  /**
   * Forgets what a server refused, but never the tokens: a forged callback must not cost the
   * refresh token, and only the manager knows which one is useless. `signOut` removes them.
   */
  async invalidateCredentials(scope: string): Promise<void> {
    const records = { client: ["client"], discovery: ["server"], verifier: ["verifier", "state"] };
    for (const [name, keys] of Object.entries(records)) {
      if (scope !== name && scope !== "all") continue;
      for (const key of keys) await this.#store.delete(`${this.#key} ${key}`);
    }
  }

  /** @internal */
  async signOut(): Promise<void> {
    await (await this.#load())?.clear();
    await this.#store.delete(`${this.#key} grant`);
    await this.#load();
  }

  /** @internal */
  readonly fetch: typeof fetch = async (input, init) => {
    const response = await this.#send(input, init);
    if (response.ok) this.#learn(input, init);
    const headers = new Headers(init?.headers);
    const refused = headers.get("authorization")?.replace(/^Bearer /i, "") ?? "";
    // Other bodies can be read only once.
    const isRepeatable = typeof (init?.body ?? "") === "string" && this.#given.includes(refused);
    if (response.status !== 401 || !isRepeatable) return response;
    const fresh = await this.#get(refused, init?.signal);
    if (fresh === undefined || fresh.token === refused) return response;
    await response.body?.cancel();
    headers.set("authorization", `Bearer ${fresh.token}`);
    return this.#send(input, { ...init, headers });
  };

  /** Returns a good token other than the refused one; `undefined` where only a sign-in helps. */
  async #get(refusedToken?: string, signal?: AbortSignal | null): Promise<AccessToken | undefined> {
    const current = this.#manager?.peek();
    if (current !== undefined && current.token !== refusedToken) return current;
    const manager = await this.#load();
    if (manager === undefined) return undefined;
    const refused = refusedToken ? new AccessToken(manager.client, refusedToken) : undefined;
    try {
      return await manager.getToken({ refused, signal });
    } catch (error) {
      const isFinal = error instanceof OAuth2Error && finalErrors.includes(error.code);
      if (isFinal || error instanceof TokenUnavailableError) return undefined;
      throw error;
    }
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
    const grant = await this.#read("grant");
    if (JSON.stringify(grant) === JSON.stringify(this.#grant)) return this.#manager;
    this.#grant = grant;
    this.#manager = undefined;
    if (grant === undefined) return undefined;
    const { token_endpoint, authorization, issuer: _issuer, ...params } = grant;
    const client = new OAuth2Client(null, null, {
      tokenUrl: String(token_endpoint),
      fetch: this.#send,
      authScheme: ({ headers, body }) => {
        if (typeof authorization === "string") headers.set("authorization", authorization);
        for (const [name, value] of Object.entries(params)) body.set(name, String(value));
      },
    });
    return (this.#manager = new TokenManager(client, { store: this.#store, key: this.#key }));
  }

  async #read(name: string): Promise<TokenHash | undefined> {
    return this.#store.get(`${this.#key} ${name}`);
  }

  async #write(name: string, value: object): Promise<void> {
    await this.#store.set(`${this.#key} ${name}`, { ...value });
  }
}
