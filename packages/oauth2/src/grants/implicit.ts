import { authorizeUrlFor, type AuthorizationClient, type AuthorizeParams } from "./auth-code.ts";

/**
 * The implicit grant (RFC 6749, 4.2): the token comes back in the fragment of the callback, where
 * `AccessToken.fromKvform` reads it. RFC 9700, 2.1.2 advises against it.
 */
export class ImplicitGrant {
  readonly #client: AuthorizationClient;

  constructor(client: AuthorizationClient) {
    this.#client = client;
  }

  /** Makes the URL to send a browser to. */
  authorizeUrl(params: AuthorizeParams = {}): string {
    return authorizeUrlFor(this.#client, "token", params);
  }
}
