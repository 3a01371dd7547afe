import { createServer, type IncomingMessage, type Server } from "node:http";

/** One answer of a script; the last one repeats. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One request as it arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly host: string;
}

/** A server on 127.0.0.1 that answers by a script and notes what it saw. */
export interface ScriptedServer extends AsyncDisposable {
  readonly origin: string;
  readonly seen: SeenRequest[];
  /** Answers of the next requests; an empty list means the default. */
  script: readonly ScriptedAnswer[];
  /** How many of the next requests are answered by a reset of their connection. */
  resets: number;
  /** Answers before the script does, unless it returns nothing. */
  respond: (request: SeenRequest) => ScriptedAnswer | undefined;
}

export function json(value: unknown, status = 200): ScriptedAnswer {
  return {
    status,
    headers: { "content-type": "application/json" },
    body: typeof value === "string" ? value : JSON.stringify(value),
  };
}

export async function startScriptedServer(
  name = "BASE",
  seen: SeenRequest[] = [],
  fallback: ScriptedAnswer = json({ access_token: "AT", token_type: "bearer" }),
): Promise<ScriptedServer> {
  let script: readonly ScriptedAnswer[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([key, value]) => [key, String(value)]),
      );
      const arrived: SeenRequest = {
        method: request.method ?? "",
        target: request.url ?? "",
        headers,
        body,
        host: name,
      };
      seen.push(arrived);
      if (state.resets > 0) {
        state.resets -= 1;
        request.socket.resetAndDestroy();
        return;
      }
      const own = state.respond(arrived);
      const answer = own ?? script[Math.min(count, script.length - 1)] ?? fallback;
      count += 1;
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body);
    });
  });
  const origin = await listen(server);
  const state: ScriptedServer = {
    origin,
    seen,
    resets: 0,
    respond: () => undefined,
    get script() {
      return script;
    },
    set script(answers) {
      script = answers;
      count = 0;
    },
    async [Symbol.asyncDispose]() {
      await close(server);
    },
  };
  return state;
}

/** Listens on a free port of 127.0.0.1. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

export async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}
