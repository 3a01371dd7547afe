import { createServer } from "node:http";
import { close, listen, readText } from "./scripted-server.ts";

/**
 * A token server that rotates refresh tokens. The previous one is good until the new one was used,
 * as its answer may have been lost; any older one is reuse and ends the family (RFC 9700, 4.14.2).
 */
export interface RotatingServer extends AsyncDisposable {
  readonly origin: string;
  /** Refresh tokens as they arrived. */
  readonly refreshes: string[];
  /** The refresh token that was given last. */
  readonly current: string;
  readonly revoked: boolean;
  /** Whether a refresh token would be accepted now. */
  accepts(refreshToken: unknown): boolean;
  /** Runs when a refresh arrived, before it is answered. */
  onRefresh: (count: number) => void | Promise<void>;
  /** Runs when the answer was written. */
  onAnswer: (count: number) => void;
  /** Lifetime of the tokens in seconds. */
  lifetime: number;
}

export async function startRotatingServer(): Promise<RotatingServer> {
  const refreshes: string[] = [];
  let generation = 0;
  let usedCurrent = true;
  let revoked = false;
  const accepts = (token: unknown): boolean =>
    !revoked && (token === `R${generation}` || (!usedCurrent && token === `R${generation - 1}`));
  const server = createServer((request, response) => {
    void (async () => {
      const form = new URLSearchParams(await readText(request));
      const refreshToken = form.get("refresh_token") ?? "";
      refreshes.push(refreshToken);
      const count = refreshes.length;
      await state.onRefresh(count);
      response.setHeader("content-type", "application/json");
      if (!accepts(refreshToken)) {
        revoked = true;
        response.statusCode = 400;
        response.end(JSON.stringify({ error: "invalid_grant" }));
        return;
      }
      // A repeated use of the previous one yields another new one, and the lost one is void.
      generation += 1;
      usedCurrent = false;
      const body = {
        access_token: `A${generation}`,
        refresh_token: `R${generation}`,
        expires_in: state.lifetime,
      };
      response.end(JSON.stringify(body), () => state.onAnswer(count));
    })();
  });
  const origin = await listen(server);
  const state: RotatingServer = {
    origin,
    refreshes,
    get current() {
      return `R${generation}`;
    },
    get revoked() {
      return revoked;
    },
    accepts,
    onRefresh: () => {},
    onAnswer: () => {},
    lifetime: 3600,
    [Symbol.asyncDispose]: () => close(server),
  };
  return state;
}
