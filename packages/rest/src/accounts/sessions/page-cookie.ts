import { isSameOrigin } from "./same-origin.ts";

/** Keeps the session token of our page, unreadable to scripts and unusable to other origins. */
export interface PageCookie {
  /** Value of `Set-Cookie` with the token. */
  set(token: string, lifetime: number): string;
  /** Value of `Set-Cookie` that removes it. */
  readonly removal: string;
  /** Reads the token of a request of the same origin. */
  read(request: Request): string | undefined;
}

/** Makes a {@link PageCookie}; by HTTPS with a host prefix (RFC 6265bis, 4.1.3.2). */
export function createPageCookie({ isSecure }: { readonly isSecure: boolean }): PageCookie {
  const name = isSecure ? "__Host-session" : "session";
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return {
    set: (token, lifetime) => `${name}=${token}; ${attributes}; Max-Age=${lifetime}`,
    removal: `${name}=; ${attributes}; Max-Age=0`,
    read(request) {
      const cookies = request.headers.get("cookie");
      if (!cookies?.includes(`${name}=`) || !isSameOrigin(request, { isSecure })) return undefined;
      const pairs = cookies.split(";").map((one) => one.trim());
      return pairs.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
    },
  };
}
