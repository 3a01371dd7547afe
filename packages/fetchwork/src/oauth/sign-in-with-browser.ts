import type { AccessToken } from "@fetchwork/oauth2";
import type { OidcClient } from "@fetchwork/oauth2/oidc";
import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { openLoopbackReceiver } from "./loopback-receiver.ts";
import { openBrowser } from "./open-browser.ts";
import { clientOf } from "./profile-client.ts";
import type { Profile } from "./profile.ts";
import type { RedirectTarget } from "./redirect-target.ts";

/** The parameters of the request and the time that the user has. */
export interface SignInWait {
  readonly request: {
    readonly scope: string | undefined;
    readonly resource: readonly string[] | undefined;
  };
  readonly signal: AbortSignal;
  /** The same as a time. */
  readonly seconds: number;
}

/** A sign-in that is done. */
export interface SignedIn {
  readonly client: OidcClient;
  readonly token: AccessToken;
}

/** Signs in with this machine's browser: code, PKCE and a loopback redirect (RFC 8252). */
export async function signInWithBrowser(
  profile: Profile,
  io: CommandIo,
  options: SignInWait & { readonly redirect: RedirectTarget; readonly opens: boolean },
): Promise<SignedIn> {
  const { request, signal, seconds, redirect, opens } = options;
  if (profile.metadata.authorization_endpoint === undefined) {
    throw new CommandUsageError("the provider has no authorization endpoint: try --device");
  }
  const receiver = await openLoopbackReceiver(redirect);
  try {
    const client = clientOf(profile, io, receiver.redirectUri);
    const { url, transaction } = await client.authCode.start(withConsent(request), {
      lifetime: seconds,
    });
    const done = receiver.receive({
      state: transaction.state,
      finish: (callback) => client.authCode.callback(callback, transaction),
      signal,
    });
    // Awaited below; until then its failure is not forgotten.
    done.catch(() => {});
    const isOpen = opens && (await openBrowser(url, io));
    const hint = isOpen ? "The browser opens. If it does not, go to" : "To sign in, go to";
    io.stderr.write(`${hint}\n\n  ${url}\n\n`);
    return { client, token: await done };
  } finally {
    await receiver.close();
  }
}

/** OpenID Connect Core, 11: a refresh token for offline use requires the user's consent. */
function withConsent(
  request: SignInWait["request"],
): SignInWait["request"] & { readonly prompt?: string } {
  const isLater = request.scope?.split(" ").includes("offline_access") === true;
  return isLater ? { ...request, prompt: "consent" } : request;
}
