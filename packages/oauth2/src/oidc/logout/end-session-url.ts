import { encodePairs, toPairs, type Params } from "../../message/form.ts";
import { endpointUrl } from "../provider-endpoint.ts";
import type { ServerMetadata } from "../metadata/server-metadata.ts";
import { checkOptions } from "../../check-options.ts";

/** Parameters of {@link endSessionUrl}. */
export interface EndSessionOptions {
  /** An ID token of the session, which spares the user a question. Expired ones are fine. */
  readonly idTokenHint?: string | undefined;
  /** Where the browser goes afterwards; must be registered. */
  readonly postLogoutRedirectUri?: string | undefined;
  /** Comes back with that redirect. */
  readonly state?: string | undefined;
  /** The user to sign out, as the provider knows the user. */
  readonly logoutHint?: string | undefined;
  /** Languages for the pages of the provider, most preferred first. */
  readonly uiLocales?: readonly string[] | undefined;
  /** Further parameters, by their wire names. */
  readonly params?: Params | undefined;
}

/**
 * Makes the URL at which the provider signs the user out (OpenID Connect RP-Initiated Logout, 2).
 *
 * @throws MetadataError when the provider has no `end_session_endpoint`
 */
export function endSessionUrl(
  metadata: ServerMetadata,
  clientId: string | null,
  options: EndSessionOptions = {},
): string {
  checkOptions("endSessionUrl", options, [
    "idTokenHint",
    "postLogoutRedirectUri",
    "state",
    "logoutHint",
    "uiLocales",
    "params",
  ]);
  const { idTokenHint, postLogoutRedirectUri, state, logoutHint, uiLocales, params } = options;
  const url = endpointUrl({ metadata, usesMtlsAliases: false }, "end_session_endpoint");
  const pairs = toPairs({
    ...params,
    client_id: clientId,
    id_token_hint: idTokenHint,
    post_logout_redirect_uri: postLogoutRedirectUri,
    state,
    logout_hint: logoutHint,
    ui_locales: uiLocales?.join(" "),
  });
  url.search = encodePairs([...url.searchParams, ...pairs]);
  return url.href;
}
