import {
  signIn,
  signInProvider,
  type ProviderOptions,
  type ProviderPreset,
  type SignedIn,
} from "../../src/sign-in/index.ts";
import { now, publicKey, sign } from "../scripted-provider.ts";
import { exportJWK } from "jose";
import { Jar, secret } from "./handlers.ts";

const jwk = { ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" };

/** What a stand-in of a provider serves. */
export interface StandIn {
  readonly preset: ProviderPreset;
  /** Metadata in addition to the endpoints; none for a provider that publishes none. */
  readonly metadata?: object | undefined;
  /** Claims of the ID token; none without OpenID Connect. */
  readonly claims?: object | undefined;
  /** Response of the token endpoint in place of JSON with the ID token. */
  readonly token?: (() => Response) | undefined;
  /** Responses of other URLs. */
  readonly resources?: Readonly<Record<string, () => Response>> | undefined;
  /** Parameters of the callback, in addition to `code` and `state`. */
  readonly callback?: Readonly<Record<string, string>> | undefined;
  readonly options?: Partial<ProviderOptions> | undefined;
}

/** How a sign-in at a stand-in ended. */
export interface Outcome {
  readonly response: Response;
  readonly signedIn: SignedIn | undefined;
  /** Parameters that the provider got. */
  readonly asked: URLSearchParams;
  /** Requests to the provider. */
  readonly sent: readonly { readonly request: Request; readonly form: URLSearchParams }[];
}

/** Signs in at a stand-in, which checks PKCE and answers as the provider does. */
export async function signInAt(one: StandIn): Promise<Outcome> {
  const sent: { request: Request; form: URLSearchParams }[] = [];
  let signedIn: SignedIn | undefined;
  let nonce: string | null = null;
  const { preset } = one;
  async function answer(request: Request): Promise<Response> {
    const { href, pathname } = new URL(request.url);
    const form = new URLSearchParams(await request.text());
    sent.push({ request, form });
    const resource = one.resources?.[href];
    if (resource !== undefined) return resource();
    if (pathname.endsWith("/.well-known/openid-configuration"))
      return Response.json({
        issuer: preset.issuer,
        authorization_endpoint: `${preset.issuer}/authorize`,
        token_endpoint: `${preset.issuer}/token`,
        jwks_uri: `${preset.issuer}/jwks`,
        ...one.metadata,
      });
    if (pathname.endsWith("/jwks")) return Response.json({ keys: [jwk] });
    if (one.token !== undefined) return one.token();
    const times = { iat: now(), exp: now() + 3600 };
    const claims = { iss: preset.issuer, aud: "app", ...times, nonce, ...one.claims };
    const id_token = await sign(claims);
    return Response.json({ access_token: "at", token_type: "Bearer", expires_in: 3600, id_token });
  }
  const provider = signInProvider(preset, {
    clientId: "app",
    clientSecret: "s3cr3t",
    redirectUri: "https://app.example/cb",
    fetch: answer,
    ...one.options,
  });
  const auth = signIn(provider, {
    secret,
    onSignedIn: (result) => {
      signedIn = result;
      return undefined;
    },
  });
  const jar = new Jar();
  const started = await jar.send(auth.login, "https://app.example/login");
  const asked = new URL(started.headers.get("location") ?? "https://none.example").searchParams;
  nonce = asked.get("nonce");
  const back = { code: "c", state: asked.get("state") ?? "", ...one.callback };
  const body = new URLSearchParams(back);
  const isPosted = asked.get("response_mode") === "form_post";
  const response = isPosted
    ? await jar.send(auth.callback, "https://app.example/cb", { method: "POST", body })
    : await jar.callback(auth, back);
  return { response, signedIn, asked, sent };
}
