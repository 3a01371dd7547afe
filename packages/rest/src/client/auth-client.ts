import { type RestResponse, TransportError } from "@fetchwork/http";
import { formatBasicCredentials } from "@fetchwork/kit";
import type {
  AccountOperation,
  Code,
  OwnUser,
  SessionResponse,
  ShownUser,
  UserInput,
} from "../accounts/account-operations.ts";
import type { ResourceTypes } from "../route-types.ts";
import type { CallOptions, TypesOf } from "./api-client.ts";
import {
  type AuthOptions,
  type AuthTokens,
  type ClientSession,
  createClientSession,
  isTokens,
} from "./client-session.ts";
import { ClientError } from "./errors.ts";
import { type Result, resultOf } from "./result.ts";

/** Email and password of a user, as they are now. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Calls that send no session. */
const withoutSession = /^confirmEmail$|PasswordReset$|PasskeySignIn$|WithPasskey$/;

const basic = ({ email, password }: Credentials): string =>
  formatBasicCredentials({ username: email, password });

type Basic = "changeEmail" | "enableSecondFactor" | "updatePassword";
type Others = "refreshSession" | "signIn" | "signInPage" | "signOut" | "signOutPage" | "updateRole";
type AuthOperation<Own = unknown> = Exclude<
  Extract<AccountOperation<Own>, { readonly operation: string }>,
  { readonly operation: Others }
>;

interface WithCredentials {
  readonly credentials: Credentials;
}
type InputOf<O extends AuthOperation> = {
  readonly [P in Exclude<O["parameter"], "id">]: string;
} & ("id" extends O["parameter"] ? { readonly id?: string | undefined } : unknown) &
  (O["operation"] extends Basic ? WithCredentials : unknown) &
  ([O["body"]] extends [undefined] ? unknown : NonNullable<O["body"]>);

type ArgumentsOf<Input> = object extends Input
  ? [input?: Input, options?: CallOptions]
  : [input: Input, options?: CallOptions];

/**
 * Everything of accounts. Calls are named as their operations in `/openapi.json`. They take
 * parameters of the path and fields of the body in one object; `id` is `me` by default. Secrets of
 * these calls go to no redirect.
 */
export type AuthClient<Api = unknown> =
  Extract<TypesOf<Api>, ResourceTypes<"users">> extends ResourceTypes<
    "users",
    infer Shown extends ShownUser,
    infer Input extends UserInput
  >
    ? AuthCalls<Shown, Input, Omit<Shown, keyof ShownUser>>
    : AuthCalls<ShownUser, UserInput, unknown>;

type AuthCalls<Shown, Input, Own, Self = OwnUser & Own> = {
  readonly [O in AuthOperation<Own> as O["operation"]]: (
    ...given: ArgumentsOf<InputOf<O>>
  ) => Promise<Result<O["response"]>>;
} & {
  /** Begins a session and keeps tokens. 401 with `param: "totp"`: second factor. */
  signIn(input: Credentials & Code, options?: CallOptions): Promise<Result<SessionResponse<Self>>>;
  /** Creates a user; no data where a mail with the next step is sent. It does not sign in. */
  signUp(input: Input, options?: CallOptions): Promise<Result<Shown | undefined>>;
  /** Ends this session. Its tokens are removed even where the API is not reached, an error. */
  signOut(): Promise<void>;
  /** Ends all sessions and tokens of the user. */
  signOutEverywhere(): Promise<void>;
  /** Refreshes before the tokens expire. Returns whether a user is signed in. */
  refresh(): Promise<boolean>;
  /** Shows the user who is signed in. */
  me(options?: CallOptions): Promise<Result<Self>>;
};

/** Content of a call's request. */
export interface Sending {
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** Parameters of the path, where `id` is by default `me`, and fields of the body in one. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  readonly options?: CallOptions | undefined;
  /** Instead of the token; `null` is none. */
  readonly authorization?: string | null | undefined;
}

/** Makes an {@link AuthClient}, and the session that it begins and ends. */
export function createAuthClient(
  options: AuthOptions,
  send: (name: string, sending: Sending) => Promise<RestResponse>,
): { readonly client: AuthClient; readonly session: ClientSession } {
  const session = createClientSession(options, async (refreshToken) =>
    tokensOf(await call("refreshSession", { body: { refreshToken }, authorization: null })),
  );

  async function call(name: string, sending: Sending): Promise<Result<unknown>> {
    try {
      return resultOf(await send(name, sending));
    } catch (error) {
      throw withoutToken(error, sending.input?.["token"]);
    }
  }

  async function begin(name: string, sending: Sending): Promise<Result<unknown>> {
    const result = await call(name, sending);
    await session.keep(tokensOf(result));
    return result;
  }

  type Input = Readonly<Record<string, unknown>> & Partial<WithCredentials>;
  const member =
    (name: string) =>
    async ({ credentials, ...input }: Input = {}, given?: CallOptions) => {
      const none = withoutSession.test(name) ? null : undefined;
      const authorization = credentials ? basic(credentials) : none;
      const run = name === "signInWithPasskey" ? begin : call;
      return run(name, { input, options: given, authorization });
    };
  const others = {
    signIn: async ({ totp, ...credentials }: Credentials & Code, given?: CallOptions) =>
      begin("signIn", { body: { totp }, options: given, authorization: basic(credentials) }),
    signUp: (body: UserInput, given?: CallOptions) =>
      call("users.create", { body, options: given, authorization: null }),
    signOut: () => session.leave(() => send("signOutPage", {})),
    signOutEverywhere: () => session.leave(() => send("signOut", {})),
    refresh: async () => (await session.renew()) !== undefined,
    me: (given?: CallOptions) => call("users.show", { input: {}, options: given }),
  };
  const members = new Map<string, unknown>(Object.entries(others));
  const client = new Proxy(others, {
    get(_target, name) {
      if (typeof name !== "string" || name === "then" || name === "toJSON") return undefined;
      return members.get(name) ?? member(name);
    },
  });
  return { client: client as unknown as AuthClient, session }; // Its types are those of the API.
}

function tokensOf({ data }: Result<unknown>): AuthTokens {
  const { token, refreshToken, expiresIn } = (data ?? {}) as Partial<SessionResponse>;
  const tokens = { token, refreshToken, expiresAt: Date.now() + Number(expiresIn) * 1_000 };
  if (isTokens(tokens)) return tokens;
  throw new ClientError("ERR_REST_RESPONSE", "the response of a sign-in has no tokens");
}

/** The token of a mailed link is a part of the path, which errors of requests show. */
function withoutToken(error: unknown, token: unknown): unknown {
  if (!(error instanceof TransportError) || typeof token !== "string") return error;
  const shown = (text = ""): string => text.replaceAll(encodeURIComponent(token), "***");
  const { message, stack, url } = error;
  return Object.assign(error, { message: shown(message), stack: shown(stack), url: shown(url) });
}
