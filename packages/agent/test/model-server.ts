import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** What goes wrong with an answer. Everything here is seen on real servers. */
export type Fault =
  /**
   * An answer with this status: 429 with `retry-after`, 500, 529, 401, a context overflow with its
   * body.
   */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  /** The connection is reset after some pieces. */
  | { readonly kind: "reset"; readonly after?: number }
  /** The stream ends after some pieces, without a reason and without an end mark. */
  | { readonly kind: "truncate"; readonly after?: number }
  /** The answer was cut at the limit of tokens. */
  | { readonly kind: "length" }
  | { readonly kind: "content-filter" }
  | { readonly kind: "refusal" }
  /** The tool's arguments are cut JSON. */
  | { readonly kind: "malformed-tool" }
  /** Text although a tool call was demanded. */
  | { readonly kind: "no-tool" }
  /** Arguments as an object, not as text: what some local servers send. */
  | { readonly kind: "object-arguments" }
  /** 200 with a page. */
  | { readonly kind: "garbage" }
  /** One piece of the stream is not JSON, and the stream then goes on to a normal end. */
  | { readonly kind: "corrupt-chunk" }
  /** An error object in the middle of the stream. */
  | { readonly kind: "error-chunk" }
  /** A normal end without a word. */
  | { readonly kind: "empty" }
  /** The head of a response, and then nothing. */
  | { readonly kind: "silence" };

/** An answer and the questions that it answers. */
export interface ScriptedAnswer {
  /** All of these stand in the question's messages. Default: every question. */
  readonly match?: readonly string[];
  /** The question demands this tool, or offers it; `null`: it has none. Default: any question. */
  readonly tool?: string | null;
  /** The text of the answer. Default: empty. */
  readonly text?: string;
  /** The arguments of the demanded tool. Default: none. */
  readonly arguments?: unknown;
  /** Calls of tools that follow the one above, whatever was demanded. Default: none. */
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
  /** Thoughts that come before the answer, each a piece. Default: none. */
  readonly thoughts?: readonly string[];
  /** The question ends with what a person said, or with results of tools. Default: either. */
  readonly last?: "user" | "tool";
  /** Answers a number of questions, then the next one that fits does. Default: all. */
  readonly times?: number;
  readonly fault?: Fault;
  /** Milliseconds before this answer. Default: the server's. */
  readonly delay?: number;
}

/** What a server is started with. */
export interface ModelServerOptions {
  readonly answers: readonly ScriptedAnswer[];
  /** Milliseconds before each answer. Default: 0. */
  readonly delay?: number;
  /** Characters of a piece. Default: 24. */
  readonly chunk?: number;
  /** Writes the stream byte by byte, so that pieces end inside of characters. Default: no. */
  readonly byteWise?: boolean;
  /** Says how many tokens it took. Default: yes. */
  readonly usage?: boolean;
  /** Default: any free one. */
  readonly port?: number;
}

/** One question that came in. */
export interface LoggedRequest {
  readonly url: string;
  readonly model: string;
  readonly tool: string | undefined;
  /** Contents of the messages, the system's included. */
  readonly messages: readonly string[];
  /** Characters of the messages, of the calls in them, and of the tools that are offered. */
  readonly characters: number;
  /** The last section of the last message, which says what is wanted. */
  readonly task: string;
  readonly maxTokens: number | undefined;
  readonly authorization: string | undefined;
  /** URLs of pictures in OpenAI's messages. */
  readonly images: readonly string[];
  /** Index of the scripted answer; -1: none fitted, the answer was a 404. */
  readonly answer: number;
}

/** A running server. */
export interface ModelServer {
  /** For OpenAI's protocol: `http://127.0.0.1:1234/v1`. Anthropic's is the same. */
  readonly baseUrl: string;
  readonly requests: readonly LoggedRequest[];
  /** Questions answered at the same time, at most. */
  readonly peak: number;
  close(): Promise<void>;
}

interface Question {
  readonly model: string;
  readonly stream: boolean;
  readonly tool: string | undefined;
  readonly offered: readonly string[];
  readonly last: "user" | "tool";
  readonly images: readonly string[];
  readonly messages: readonly string[];
  readonly maxTokens: number | undefined;
}

interface Turn extends Question {
  readonly scripted: ScriptedAnswer;
  readonly options: ModelServerOptions;
}

/**
 * Starts a server that speaks Chat Completions of OpenAI and Messages of Anthropic from scripted
 * answers.
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const requests: LoggedRequest[] = [];
  const left = options.answers.map(({ times = Infinity }) => times);
  let running = 0;
  let peak = 0;

  const server = createServer((message, response) => {
    running += 1;
    peak = Math.max(peak, running);
    response.on("close", () => (running -= 1));
    void answer(message, response).catch(() => response.destroy());
  });

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = message.url ?? "";
    if (message.method === "GET" && url === "/requests") return sendJson(response, 200, requests);
    if (message.method === "GET" && url.endsWith("/models")) {
      return sendJson(response, 200, {
        object: "list",
        data: [{ id: "scripted", object: "model" }],
      });
    }
    const body = await readBody(message);
    const question = readQuestion(body);
    const index = options.answers.findIndex(
      (candidate, at) => (left[at] ?? 0) > 0 && fits(candidate, question),
    );
    const { authorization = message.headers["x-api-key"] } = message.headers;
    const { model, tool, messages, images, maxTokens } = question;
    requests.push({
      url,
      model,
      tool,
      messages,
      images,
      characters: charactersOf(body, messages),
      task: lastSection(messages.at(-1) ?? ""),
      maxTokens,
      authorization: typeof authorization === "string" ? authorization : undefined,
      answer: index,
    });
    const scripted = options.answers[index];
    if (scripted === undefined) {
      const head = messages.at(-1)?.slice(0, 200);
      return sendJson(response, 404, { error: { message: `no scripted answer for: ${head}` } });
    }
    left[index] = (left[index] ?? 0) - 1;
    const delay = scripted.delay ?? options.delay ?? 0;
    if (delay > 0) await wait(delay);
    const turn: Turn = { ...question, scripted, options };
    if (scripted.fault?.kind === "status") {
      const { status, headers, body } = scripted.fault;
      return sendJson(response, status, body ?? { error: { message: "scripted fault" } }, headers);
    }
    if (scripted.fault?.kind === "garbage") {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!DOCTYPE html><title>Sign in</title><p>Sign in to the network");
      return;
    }
    if (url.endsWith("/messages")) return await answerAnthropic(response, turn);
    return await answerOpenAi(response, turn);
  }

  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    get peak() {
      return peak;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function lastSection(message: string): string {
  const start = message.lastIndexOf("\n\n# ");
  return start === -1 ? message : message.slice(start + 2);
}

function fits({ last, match = [], tool }: ScriptedAnswer, question: Question): boolean {
  if (last !== undefined && last !== question.last) return false;
  const { tool: demanded, offered } = question;
  if (tool === null && (demanded !== undefined || offered.length > 0)) return false;
  if (typeof tool === "string" && tool !== demanded && !offered.includes(tool)) return false;
  const whole = question.messages.join("\n");
  return match.every((part) => whole.includes(part));
}

async function readBody(message: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

/** Whatever a model reads of a question, without the JSON around texts. */
function charactersOf(body: unknown, texts: readonly string[]): number {
  const { messages, tools = [] } = body as {
    readonly messages: readonly { readonly tool_calls?: unknown }[];
    readonly tools?: unknown;
  };
  const calls = messages.flatMap(({ tool_calls: made }) => made ?? []);
  return texts.join("").length + JSON.stringify(calls).length + JSON.stringify(tools).length;
}

interface WireMessage {
  readonly role?: string;
  readonly content:
    | string
    | null
    | readonly {
        readonly type?: string;
        readonly text?: string;
        readonly image_url?: { readonly url: string };
        readonly content?: unknown;
      }[];
}

/** OpenAI has a role for results of tools, Anthropic a kind of content. */
function endsWithResult(message: WireMessage | undefined): boolean {
  const { content, role } = message ?? { content: "" };
  const [part] = typeof content === "string" ? [] : (content ?? []);
  return role === "tool" || part?.type === "tool_result";
}

function readQuestion(body: unknown): Question {
  const question = body as {
    readonly model: string;
    readonly stream?: boolean;
    readonly system?: WireMessage["content"];
    readonly messages: readonly WireMessage[];
    readonly max_tokens?: number;
    readonly max_completion_tokens?: number;
    readonly tools?: readonly {
      readonly function?: { readonly name: string };
      readonly name?: string;
    }[];
    readonly tool_choice?: {
      readonly function?: { readonly name: string };
      readonly name?: string;
    };
  };
  const textOf = (content: WireMessage["content"]): string =>
    typeof content === "string"
      ? content
      : (content ?? [])
          .map(
            ({ text, content: result }) =>
              text ?? (result === undefined ? "" : JSON.stringify(result)),
          )
          .join("");
  return {
    model: question.model,
    stream: question.stream === true,
    tool: question.tool_choice?.function?.name ?? question.tool_choice?.name,
    images: question.messages.flatMap(({ content }) =>
      typeof content === "string"
        ? []
        : (content ?? []).flatMap(({ image_url: image }) => (image ? [image.url] : [])),
    ),
    last: endsWithResult(question.messages.at(-1)) ? "tool" : "user",
    offered: (question.tools ?? []).map(({ function: made, name = "" }) => made?.name ?? name),
    messages: [
      ...(question.system === undefined ? [] : [textOf(question.system)]),
      ...question.messages.map(({ content }) => textOf(content)),
    ],
    maxTokens: question.max_tokens ?? question.max_completion_tokens,
  };
}

/** The demanded tool's arguments as text, or undefined where the answer is text. */
function argumentsOf({ tool, scripted }: Turn): string | undefined {
  if (tool === undefined || scripted.arguments === undefined) return undefined;
  if (scripted.fault?.kind === "no-tool") return undefined;
  const text =
    typeof scripted.arguments === "string"
      ? scripted.arguments
      : JSON.stringify(scripted.arguments);
  return scripted.fault?.kind === "malformed-tool" ? text.slice(0, text.length / 2) : text;
}

/** Every call of an answer: the demanded tool's, then those of the script. */
function callsOf(
  { tool = "", scripted }: Turn,
  called: string,
): readonly { readonly name: string; readonly arguments: string }[] {
  const { calls = [] } = scripted;
  return [
    ...(called === "" ? [] : [{ name: tool, arguments: called }]),
    ...calls.map((call) => ({ name: call.name, arguments: JSON.stringify(call.arguments) })),
  ];
}

/** Calls as OpenAI streams them. */
function callDeltas(turn: Turn, called: string): readonly unknown[] {
  const { fault, arguments: given } = turn.scripted;
  const whole = fault?.kind === "object-arguments" ? given : undefined;
  return callsOf(turn, called).flatMap((call, index) => {
    const start = { name: call.name, arguments: whole ?? "" };
    const head = { index, id: `call_${index + 1}`, type: "function", function: start };
    const parts = whole === undefined ? pieces(call.arguments, turn.options.chunk ?? 24) : [];
    return [
      { tool_calls: [head] },
      ...parts.map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
    ];
  });
}

function pieces(text: string, size: number): readonly string[] {
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) =>
    characters.slice(at * size, (at + 1) * size).join(""),
  );
}

function tokensOf(texts: readonly string[]): number {
  return Math.ceil(texts.join("").length / 4);
}

function textOf({ scripted }: Turn): string {
  const { text = "", fault } = scripted;
  return fault?.kind === "empty" || fault?.kind === "refusal" ? "" : text;
}

/** Writes events, and the faults that happen between them. False: nothing may follow. */
async function writeStream(
  response: ServerResponse,
  events: readonly string[],
  { scripted, options }: Turn,
): Promise<boolean> {
  const { fault } = scripted;
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.flushHeaders();
  if (fault?.kind === "silence") return false;
  for (const [index, event] of events.entries()) {
    const broken = (fault?.kind === "reset" || fault?.kind === "truncate") && fault;
    if (broken && index >= (broken.after ?? 3)) {
      // What was written has to be on its way before the connection ends.
      await new Promise((resolve) => response.write("", resolve));
      if (broken.kind === "reset") response.socket?.resetAndDestroy();
      else response.end();
      return false;
    }
    if (fault?.kind === "corrupt-chunk" && index === 2) {
      response.write('data: {"choices":[{"delta":{"con\n\n');
      continue;
    }
    if (fault?.kind === "error-chunk" && index === 2) {
      response.write(
        'data: {"type":"error","error":{"type":"overloaded_error","message":"overloaded"}}\n\n',
      );
      response.end();
      return false;
    }
    if (options.byteWise === true) {
      for (const byte of Buffer.from(event)) {
        await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
      }
    } else response.write(event);
  }
  return true;
}

async function answerOpenAi(response: ServerResponse, turn: Turn): Promise<void> {
  const { model, messages, scripted, stream, tool = "" } = turn;
  const { fault } = scripted;
  const called = argumentsOf(turn) ?? (scripted.calls === undefined ? undefined : "");
  const text = called === undefined ? textOf(turn) : "";
  const refusal = fault?.kind === "refusal" ? "I cannot help with that." : null;
  const end = called === undefined ? "stop" : "tool_calls";
  const reason =
    fault?.kind === "length" ? "length" : fault?.kind === "content-filter" ? "content_filter" : end;
  const [prompt, completion] = [tokensOf(messages), tokensOf([text, called ?? ""])];
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
  const head = { id: "chatcmpl-1", created: 1, model };
  if (!stream) {
    const call = { id: "call_1", type: "function", function: { name: tool, arguments: called } };
    const message = {
      role: "assistant",
      content: called === undefined && refusal === null ? text : null,
      refusal,
      ...(called !== undefined && { tool_calls: [call] }),
    };
    return sendJson(response, 200, {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: reason }],
      usage,
    });
  }
  const event = (delta: unknown, finish: string | null = null): string =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const thoughts = (scripted.thoughts ?? []).map((part) => ({ reasoning_content: part }));
  const deltas: unknown[] = [{ role: "assistant", content: "" }];
  const size = turn.options.chunk ?? 24;
  if (refusal !== null) deltas.push(...pieces(refusal, size).map((part) => ({ refusal: part })));
  else if (called === undefined)
    deltas.push(...pieces(text, size).map((part) => ({ content: part })));
  else deltas.push(...callDeltas(turn, called));
  const [begin, ...rest] = deltas.map((delta) => event(delta));
  const events = [begin ?? "", ...thoughts.map((part) => event(part)), ...rest, event({}, reason)];
  if (turn.options.usage !== false) {
    events.push(
      `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage })}\n\n`,
    );
  }
  events.push("data: [DONE]\n\n");
  if (await writeStream(response, events, turn)) response.end();
}

async function answerAnthropic(response: ServerResponse, turn: Turn): Promise<void> {
  const { model, messages, scripted, stream, tool = "" } = turn;
  const { fault } = scripted;
  const called = argumentsOf(turn) ?? (scripted.calls === undefined ? undefined : "");
  const text = called === undefined ? textOf(turn) : "";
  const end = called === undefined ? "end_turn" : "tool_use";
  const refused = fault?.kind === "refusal" || fault?.kind === "content-filter";
  const reason = fault?.kind === "length" ? "max_tokens" : refused ? "refusal" : end;
  const input_tokens = tokensOf(messages);
  const output_tokens = tokensOf([text, called ?? ""]);
  const head = { id: "msg_1", type: "message", role: "assistant", model, stop_sequence: null };
  if (!stream) {
    const block =
      called === undefined
        ? { type: "text", text }
        : { type: "tool_use", id: "toolu_1", name: tool, input: JSON.parse(called) as unknown };
    return sendJson(response, 200, {
      ...head,
      content: [block],
      stop_reason: reason,
      usage: { input_tokens, output_tokens },
    });
  }
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const usage = { input_tokens, output_tokens: 1 };
  const size = turn.options.chunk ?? 24;
  const thoughts = (scripted.thoughts ?? []).map((thinking) => ({
    type: "thinking_delta",
    thinking,
  }));
  const texts = pieces(text, size).map((part) => ({ type: "text_delta", text: part }));
  const calls = called === undefined ? [] : callsOf(turn, called);
  const blocks = [
    ...(thoughts.length === 0
      ? []
      : [{ block: { type: "thinking", thinking: "", signature: "" }, deltas: thoughts }]),
    ...(called === undefined ? [{ block: { type: "text", text: "" }, deltas: texts }] : []),
    ...calls.map((call, index) => ({
      block: { type: "tool_use", id: `toolu_${index + 1}`, name: call.name, input: {} },
      deltas: pieces(call.arguments, size).map((part) => ({
        type: "input_json_delta",
        partial_json: part,
      })),
    })),
  ];
  const events = [
    event("message_start", {
      message: { ...head, content: [], stop_reason: null, usage },
    }),
    ...blocks.flatMap(({ block, deltas }, index) => [
      event("content_block_start", { index, content_block: block }),
      ...deltas.map((delta) => event("content_block_delta", { index, delta })),
      event("content_block_stop", { index }),
    ]),
    event("message_delta", {
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens },
    }),
    event("message_stop", {}),
  ];
  if (await writeStream(response, events, turn)) response.end();
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}

// `node model-server.ts script.json` prints the base URL and answers until it is ended; `GET
// /requests` lists questions.
if (import.meta.main) {
  const [, , file = ""] = process.argv;
  const script = JSON.parse(readFileSync(file, "utf8")) as ModelServerOptions;
  const server = await startModelServer(script);
  process.stdout.write(`${server.baseUrl}\n`);
}
