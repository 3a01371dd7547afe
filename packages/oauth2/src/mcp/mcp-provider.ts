import { TokenUnavailableError } from "../errors.ts";
import type {
  McpAuthorizationOptions,
  McpClientInformation,
  McpClientMetadata,
} from "./mcp-options.ts";
import type { SharedTokens } from "./shared-tokens.ts";

/** What the MCP client gets of the tokens. */
export interface McpTokens {
  access_token: string;
  token_type: string;
  scope?: string;
  issuer?: string | undefined;
}

/** The provider of an MCP client; made by `mcpAuthorization`. The client never gets a refresh token. */
export class McpOAuthProvider {
  readonly #options: McpAuthorizationOptions;
  readonly #tokens: SharedTokens;
  readonly clientMetadataUrl?: string;

  /** @internal */
  constructor(options: McpAuthorizationOptions, tokens: SharedTokens) {
    this.#options = options;
    this.#tokens = tokens;
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
  }

  get redirectUrl(): string | URL {
    return this.#options.redirectUrl;
  }

  get clientMetadata(): McpClientMetadata {
    const redirect_uris = [String(this.redirectUrl)];
    const grant_types = ["authorization_code", "refresh_token"];
    return { redirect_uris, grant_types, ...this.#options.clientMetadata };
  }

  /**
   * Returns a token that is good, refreshed where it is due; `undefined` where only a sign-in helps.
   *
   * @throws what a refresh throws that may succeed later; TokenStoreError
   */
  async tokens(): Promise<McpTokens | undefined> {
    const token = await this.#tokens.get();
    if (token === undefined) return undefined;
    const tokens = { access_token: token.token, token_type: token.tokenType ?? "Bearer" };
    const { scope } = token;
    const { issuer } = this.#tokens;
    return { ...tokens, ...(scope && { scope }), ...(issuer && { issuer }) };
  }

  /** Stores what the client got for a code. */
  async saveTokens(tokens: { access_token: string; issuer?: string | undefined }): Promise<void> {
    const { issuer, ...fields } = tokens;
    await this.#tokens.save(fields, issuer);
    await this.invalidateCredentials("verifier");
  }

  /** Returns a new `state`, and stores it for {@link McpOAuthProvider.storedState}. */
  async state(): Promise<string> {
    const state = crypto.randomUUID();
    await this.#tokens.write("state", { state });
    return state;
  }

  /** Returns the `state` of the sign-in that was begun last, with which the callback must come. */
  async storedState(): Promise<string | undefined> {
    return textOf(await this.#tokens.read("state"), "state");
  }

  redirectToAuthorization(url: URL): void | Promise<void> {
    return this.#options.redirect(url);
  }

  saveCodeVerifier(verifier: string): Promise<void> {
    return this.#tokens.write("verifier", { verifier });
  }

  /** @throws TokenUnavailableError when no sign-in was begun */
  async codeVerifier(): Promise<string> {
    const verifier = textOf(await this.#tokens.read("verifier"), "verifier");
    if (verifier === undefined) throw new TokenUnavailableError("no sign-in was begun");
    return verifier;
  }

  /** The client with what the SDK has stored of it, such as its issuer. */
  async clientInformation(): Promise<McpClientInformation | undefined> {
    const stored = await this.#tokens.read("client");
    const { client } = this.#options;
    const id = textOf(stored, "client_id");
    if (id === undefined || (client !== undefined && client.client_id !== id)) return client;
    return { ...stored, client_id: id };
  }

  saveClientInformation(client: McpClientInformation): Promise<void> {
    return this.#tokens.write("client", client);
  }

  isClientInformationDynamicallyRegistered(): boolean {
    return this.#options.client === undefined;
  }

  async discoveryState(): Promise<{ authorizationServerUrl: string } | undefined> {
    const stored = await this.#tokens.read("server");
    const authorizationServerUrl = textOf(stored, "authorizationServerUrl");
    return authorizationServerUrl === undefined ? undefined : { ...stored, authorizationServerUrl };
  }

  saveDiscoveryState(state: { authorizationServerUrl: string }): Promise<void> {
    return this.#tokens.write("server", state);
  }

  /**
   * Forgets what a server refused, but never the tokens: a forged callback must not cost the refresh token, and only the
   * manager knows which one is useless. `signOut` removes them.
   */
  async invalidateCredentials(scope: string): Promise<void> {
    const records = { client: ["client"], discovery: ["server"], verifier: ["verifier", "state"] };
    for (const [name, keys] of Object.entries(records)) {
      if (scope === name || scope === "all") for (const key of keys) await this.#tokens.remove(key);
    }
  }
}

function textOf(stored: Record<string, unknown> | undefined, field: string): string | undefined {
  const value = stored?.[field];
  return typeof value === "string" ? value : undefined;
}
