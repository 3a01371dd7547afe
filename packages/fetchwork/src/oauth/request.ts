import { BodyTooLargeError, encodeBase64, isConnectionHeader, readBody } from "@fetchwork/kit";
import { authorizedFetch } from "@fetchwork/oauth2";
import { nodeTransport } from "@fetchwork/oauth2/node";
import type { CommandIo } from "../command/command-io.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, manyLines, oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { openProfile } from "./profile-client.ts";
import { profileNameOf, profileOptions } from "./profile.ts";
import { bodyOf, type RequestContent } from "./request-content.ts";
import { isSafeUrl, safeUrl } from "./safe-url.ts";

/** `fetchwork oauth request`. */
export const request: Command = defineCommand({
  summary: "Send a request with the token; exits with 1 for a status of 400 or above",
  positionals: ["[method]", "url"],
  options: {
    ...profileOptions,
    include: { type: "boolean", short: "i", description: "Print the status and the headers too" },
    header: {
      type: "string",
      short: "H",
      hint: "name: value",
      multiple: true,
      description: "Request header; may be repeated",
    },
    data: {
      type: "string",
      short: "d",
      hint: "text",
      description: "Request body: text, @file, or @- for standard input",
    },
    location: { type: "boolean", short: "L", description: "Follow redirects" },
    timeout: {
      type: "string",
      hint: "seconds",
      default: "60",
      description: "Maximum time for the response",
    },
    json: { type: "boolean", description: "Print status, headers and body as one JSON object" },
  },
  async run({ values, positionals }, io) {
    const [first = "", second] = positionals;
    const url = safeUrl("the URL", second ?? first);
    const seconds = Number(values.timeout);
    if (!/^\d+$/.test(values.timeout) || seconds < 1 || seconds > 86_400) {
      throw new CommandUsageError("--timeout must be a whole number of seconds from 1 to 86400");
    }
    const headers = headersOf(values.header ?? []);
    const method = methodOf(second === undefined ? undefined : first, values.data !== undefined);
    const content = values.data === undefined ? undefined : await bodyOf(values.data, io);
    if (content !== undefined && !headers.has("content-type"))
      headers.set("content-type", content.type);
    const { manager } = await openProfile(profileNameOf(values, io), io);
    const milliseconds = seconds * 1000;
    const fetch = nodeTransport({ headersTimeout: milliseconds, bodyTimeout: milliseconds });
    const send = authorizedFetch(manager, {
      allowedOrigins: isSafeUrl,
      fetch,
      timeout: milliseconds,
    });
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(milliseconds)]);
    const response = await send(url, {
      method,
      headers,
      body: bodyFor(content),
      redirect: values.location === true ? "follow" : "manual",
      signal,
    });
    if (values.json === true) io.stdout.write(jsonLine(await describe(response)));
    else await print(response, io, values.include === true);
    return response.status < 400 ? 0 : 1;
  },
});

function bodyFor(content: RequestContent | undefined): Uint8Array<ArrayBuffer> | null {
  return content?.bytes ?? null;
}

function methodOf(given: string | undefined, hasBody: boolean): string {
  const method = (given ?? (hasBody ? "POST" : "GET")).toUpperCase();
  if (!/^[A-Z][A-Z-]{0,31}$/.test(method))
    throw new CommandUsageError("the method must be a word such as POST");
  if (["CONNECT", "TRACE", "TRACK"].includes(method)) {
    throw new CommandUsageError(`the method ${method} is not allowed`);
  }
  if (hasBody && (method === "GET" || method === "HEAD")) {
    throw new CommandUsageError(`${method} cannot have a body`);
  }
  return method;
}

/** Headers that the command sets itself, next to those of the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "dpop",
  "expect",
  "host",
  "proxy-authorization",
]);

function headersOf(given: readonly string[]): Headers {
  const headers = new Headers();
  for (const line of given) {
    const [, name, value] =
      /^([\w!#$%&'*+.^`|~-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? [];
    // Not shown: it may be a secret. A line break in it would begin another header.
    if (name === undefined || value === undefined) {
      throw new CommandUsageError("--header must be a single line such as name: value");
    }
    const key = name.toLowerCase();
    if (isConnectionHeader(key) || ownHeaders.has(key))
      throw new CommandUsageError(`--header must not set ${name}`);
    headers.append(name, value);
  }
  return headers;
}

async function print(response: Response, { stdout }: CommandIo, withHead: boolean): Promise<void> {
  if (withHead) {
    const lines = Array.from(response.headers, ([name, value]) => `${name}: ${manyLines(value)}\n`);
    const status = `${response.status} ${oneLine(response.statusText)}`.trimEnd();
    stdout.write(`${status}\n${lines.join("")}\n`);
  }
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    // What moves the cursor of a terminal is for files and pipes only.
    if (stdout.isTerminal) stdout.write(manyLines(decoder.decode(chunk, { stream: true })));
    else stdout.write(chunk);
  }
}

/** Maximum size of a body that is shown as JSON, because all of it is read first. */
const maxJsonBody = 33_554_432;

async function describe(response: Response): Promise<object> {
  const { status, statusText } = response;
  const bytes = await readBody(response.body, { limit: maxJsonBody }).catch((error: unknown) => {
    if (!(error instanceof BodyTooLargeError)) throw error;
    throw new Error("the response is too large for --json; run the command without it");
  });
  const headers = Object.fromEntries(response.headers);
  return { status, statusText, headers, ...bodyFields(bytes) };
}

function bodyFields(bytes: Uint8Array): { readonly body: unknown } | { readonly base64: string } {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: encodeBase64(bytes) };
  }
  try {
    return { body: JSON.parse(text) };
  } catch {
    return { body: text };
  }
}
