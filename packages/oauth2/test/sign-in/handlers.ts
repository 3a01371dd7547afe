import { vi } from "vitest";
import { signIn, type SignIn, type SignedIn, type SignInOptions } from "../../src/sign-in/index.ts";
import { connect, idToken, issuer } from "../scripted-provider.ts";

/** Secret of the application. */
export const secret: string = "a secret of thirty-two characters and more";
/** What a scripted provider serves, by path. */
export type Answers = Parameters<typeof connect>[0];
type ClientOptions = NonNullable<Parameters<typeof connect>[1]>;

/** Handlers whose provider exists in memory. */
export interface Handlers {
  readonly auth: SignIn;
  /** What `onSignedIn` was called with. */
  readonly signedIn: SignedIn[];
  readonly sent: ReturnType<typeof connect>["sent"];
}

/** Makes the handlers of a provider that signs everyone in, or responds as `answers` says. */
export function handlersOf(
  options: Partial<SignInOptions> = {},
  answers: Answers = {},
  clientOptions: ClientOptions = {},
): Handlers {
  const signedIn: SignedIn[] = [];
  const { client, sent } = connect(
    {
      "/token": async () => tokenAnswer({ nonce: nonces.last, email: "a@b.example" }),
      ...answers,
    },
    clientOptions,
  );
  const onSignedIn = (one: SignedIn): undefined => {
    signedIn.push(one);
  };
  return { auth: signIn(client, { secret, onSignedIn, ...options }), signedIn, sent };
}

/** The nonce of the last sign-in, as a provider would remember it with the code. */
export const nonces = { last: "" };

/** Response of a token endpoint with an ID token. */
export async function tokenAnswer(claims: object): Promise<Response> {
  const token = { access_token: "at", token_type: "bearer", id_token: await idToken(claims) };
  return Response.json(token);
}

/** A browser as far as cookies go: deletes those that are removed. */
export class Jar {
  readonly cookies = new Map<string, string>();

  /** Sends a request with the cookies, and keeps those of the response. */
  async send(
    handler: (request: Request) => Promise<Response>,
    url: string,
    init: RequestInit = {},
  ): Promise<Response> {
    const headers = new Headers(init.headers);
    const cookie = Array.from(this.cookies, (pair) => pair.join("=")).join("; ");
    if (cookie !== "") headers.set("cookie", cookie);
    const response = await handler(new Request(url, { ...init, headers }));
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const at = pair.indexOf("=");
      if (line.includes("Max-Age=0")) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  }

  /** Starts a sign-in; returns the parameters that the provider gets. */
  async login(auth: SignIn, query = ""): Promise<URLSearchParams> {
    const response = await this.send(auth.login, `https://app.example/login${query}`);
    const sent = new URL(response.headers.get("location") ?? "about:blank").searchParams;
    nonces.last = sent.get("nonce") ?? "";
    return sent;
  }

  /** Comes back with these parameters. */
  callback(auth: SignIn, parameters: Record<string, string>): Promise<Response> {
    const query = new URLSearchParams(parameters);
    const headers = { accept: "text/html" };
    return this.send(auth.callback, `https://app.example/cb?${query}`, { headers });
  }

  /** Signs in from beginning to end. */
  async signIn(auth: SignIn, query = ""): Promise<Response> {
    const state = (await this.login(auth, query)).get("state") ?? "";
    return this.callback(auth, { code: "c", state, iss: issuer });
  }
}

/** Lets time pass: call with `vi.useFakeTimers({ toFake: ["Date"] })`. */
export function passSeconds(seconds: number): void {
  vi.setSystemTime(Date.now() + seconds * 1000);
}
