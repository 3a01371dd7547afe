// #if oidc
import { createSeal } from "./seal.ts";

/** Keeps something in a cookie that nobody can read or change. */
export interface SealedCookie {
  /** Value of `Set-Cookie` with the text in it. */
  seal(text: string): Promise<string>;
  /** Reads the cookie of a request; `undefined` unless it is there, ours, and young enough. */
  open(request: Request): Promise<string | undefined>;
  /** Value of `Set-Cookie` that removes it. */
  readonly removal: string;
}

/** What a {@link SealedCookie} is. */
export interface SealedCookieOptions {
  readonly name: string;
  /** The path that it is for; by HTTP the only one that it is sent to. */
  readonly path: string;
  /** Whether it is sent by HTTPS only. */
  readonly isSecure: boolean;
  /** Time to live, in seconds. */
  readonly lifetime: number;
  readonly secret: string;
}

/** Makes a {@link SealedCookie}, with the name, the path and the expiry authenticated too. */
export function createSealedCookie(options: SealedCookieOptions): SealedCookie {
  const { path, isSecure, lifetime, secret } = options;
  // By HTTPS it is one that no other host can have set (RFC 6265bis section 4.1.3.2), which needs the root as its path.
  const name = `${isSecure ? "__Host-" : ""}${options.name}`;
  const attributes = `Path=${isSecure ? "/" : path}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  const sealed = createSeal({ secret, purpose: "sealed cookies" });
  const contextOf = (expiry: string): string => `${name} ${path} ${expiry}`;

  return {
    removal: `${name}=; ${attributes}; Max-Age=0`,
    async seal(text) {
      const expiry = String(Math.floor(Date.now() / 1000) + lifetime);
      const data = (await sealed.seal(text, contextOf(expiry))).toString("base64url");
      return `${name}=${expiry}.${data}; ${attributes}; Max-Age=${lifetime}`;
    },
    async open(request) {
      const [expiry = "", data = ""] = valueOf(request, name)?.split(".") ?? [];
      if (!/^\d{1,12}$/.test(expiry) || Number(expiry) <= Date.now() / 1000) return undefined;
      return sealed.open(Buffer.from(data, "base64url"), contextOf(expiry));
    },
  };
}

function valueOf({ headers }: Request, name: string): string | undefined {
  const pairs = headers.get("cookie")?.split(";") ?? [];
  const pair = pairs.map((one) => one.trim()).find((one) => one.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}
// #endif
