import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { Readable } from "node:stream";
import type {
  AgentApp,
  AgentContext,
  McpServer as AcpMcpServer,
  SessionModeState,
} from "@agentclientprotocol/sdk";
import { checkOptions } from "../check-options.ts";
import { checkMcpServers, type McpServer } from "../loop/mcp-server.ts";
import { agentOptionNames, type AgentOptions } from "../run/agent-options.ts";
import { AcpSession, type SessionMode } from "./acp-session.ts";
import { sessionsOf, sessionTurns } from "./session-history.ts";

/** How editors are served. */
export interface ServeAcpOptions extends Omit<AgentOptions, "allowProtected" | "approve"> {
  /** Bytes that the editor writes. Default: the standard input. */
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  /** Writes to the editor; nothing else may go there. Default: to the standard output. */
  readonly output?: ((bytes: Uint8Array) => void) | undefined;
  /** Ends all sessions. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** The version of this package. */
const version = "0.1.0";
/** An editor decides about changes. */
const agentNames = agentOptionNames.filter(
  (name): name is Exclude<typeof name, "allowProtected" | "approve"> =>
    name !== "allowProtected" && name !== "approve",
);
/** Maximum bytes of a message: 10 pictures of 8 MiB together, as Base64, and their text. */
const maxMessage = 16 * 1024 * 1024;
const sessionForm = /^acp-[0-9a-f]{16}$/;
const modes: readonly {
  readonly id: SessionMode;
  readonly name: string;
  readonly description: string;
}[] = [
  { id: "ask", name: "Ask", description: "Ask before each file is written" },
  { id: "write", name: "Write", description: "Write files without asking" },
];

/**
 * Speaks the Agent Client Protocol (version 1) with an editor, until the editor closes the
 * connection: each prompt is an edit of the session's folder, in the conversation of the prompts
 * before it. A session is kept in the folder and can be loaded again.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION` as a rejection
 */
export async function serveAcp(options: ServeAcpOptions = {}): Promise<void> {
  checkOptions("serveAcp", options, [...agentNames, "input", "output", "signal"]);
  const {
    input = process.stdin,
    output = (bytes) => void process.stdout.write(bytes),
    signal,
    ...settings
  } = options;
  checkMcpServers(settings.mcp);
  const sdk = await import("@agentclientprotocol/sdk");
  const sessions = new Map<string, AcpSession>();
  const app = acpAgent(sdk, settings, sessions);
  const stream = sdk.ndJsonStream(
    new WritableStream({ write: output }),
    Readable.toWeb(Readable.from(input)) as ReadableStream<Uint8Array>,
    { maxMessageBytes: maxMessage },
  );
  const connection = app.connect(stream);
  const close = (): void => connection.close();
  if (signal?.aborted === true) close();
  else signal?.addEventListener("abort", close, { once: true });
  await connection.closed;
  signal?.removeEventListener("abort", close);
  await Promise.all(Array.from(sessions.values(), (session) => session.end()));
}

type Sdk = typeof import("@agentclientprotocol/sdk");

function acpAgent(
  { agent, methods, PROTOCOL_VERSION, RequestError }: Sdk,
  settings: AgentOptions,
  sessions: Map<string, AcpSession>,
): AgentApp {
  const found = (sessionId: string): AcpSession => {
    const session = sessions.get(sessionId);
    if (session === undefined) throw RequestError.sessionNotFound(sessionId);
    return session;
  };
  const open = async (
    sessionId: string,
    { cwd, mcpServers }: { readonly cwd: string; readonly mcpServers: readonly AcpMcpServer[] },
    client: AgentContext,
  ): Promise<AcpSession> => {
    const isFolder = isAbsolute(cwd) && (await stat(cwd).catch(() => undefined))?.isDirectory();
    if (isFolder !== true) {
      throw RequestError.invalidParams(undefined, "cwd must be the absolute path of a folder");
    }
    const mcp = [...(settings.mcp ?? []), ...mcpServers.map(toMcpServer)];
    try {
      checkMcpServers(mcp);
    } catch (error) {
      throw RequestError.invalidParams(undefined, messageOf(error));
    }
    await sessions.get(sessionId)?.end();
    const session = new AcpSession({
      id: sessionId,
      folder: cwd,
      settings: { ...settings, mcp },
      client,
    });
    sessions.set(sessionId, session);
    return session;
  };
  return agent({ name: "fetchwork" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "fetchwork", title: "Fetchwork", version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: { list: {} },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, async ({ params, client }) => {
      const sessionId = `acp-${randomBytes(8).toString("hex")}`;
      const session = await open(sessionId, params, client);
      return { sessionId, modes: modesOf(session) };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const { sessionId, cwd } = params;
      const turns = sessionForm.test(sessionId) ? await sessionTurns(cwd, sessionId) : [];
      if (!turns.some(({ isFinished }) => isFinished)) {
        throw RequestError.sessionNotFound(sessionId);
      }
      const session = await open(sessionId, params, client);
      await session.replay(turns);
      return { modes: modesOf(session) };
    })
    .onRequest(methods.agent.session.list, async ({ params: { cwd } }) => {
      const folder = cwd ?? process.cwd();
      const listed = await sessionsOf(folder);
      return { sessions: listed.map((one) => ({ ...one, cwd: folder })) };
    })
    .onRequest(methods.agent.session.setMode, ({ params: { sessionId, modeId } }) => {
      const mode = modes.find(({ id }) => id === modeId);
      if (mode === undefined)
        throw RequestError.invalidParams(undefined, 'modeId must be "ask" or "write"');
      found(sessionId).mode = mode.id;
      return {};
    })
    .onRequest(methods.agent.session.prompt, async ({ params, signal }) => {
      const session = found(params.sessionId);
      if (session.isBusy) {
        throw RequestError.invalidRequest(undefined, "a prompt of this session is under way");
      }
      const cancel = (): void => session.cancel();
      signal.addEventListener("abort", cancel, { once: true });
      try {
        const done = session.prompt(params.prompt);
        // It may have been canceled before it was handled.
        if (signal.aborted) cancel();
        return { stopReason: await done };
      } catch (error) {
        throw RequestError.internalError(undefined, messageOf(error));
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    })
    .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => {
      sessions.get(sessionId)?.cancel();
    });
}

function modesOf({ mode }: AcpSession): SessionModeState {
  return { currentModeId: mode, availableModes: [...modes] };
}

/** A server as an editor names it; servers of events alone are refused by their form. */
function toMcpServer(server: AcpMcpServer): McpServer {
  const name = server.name.replaceAll(/[^a-z0-9-]+/gi, "-").slice(0, 32);
  if (!("type" in server)) {
    return { name, command: [server.command, ...server.args], env: pairs(server.env) };
  }
  return { name, url: server.type === "http" ? server.url : "", headers: pairs(server.headers) };
}

function pairs(
  list: readonly { readonly name: string; readonly value: string }[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
