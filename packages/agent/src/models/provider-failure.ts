import { isObject, parseRetryAfter } from "@fetchwork/kit";
import { codeOf } from "../error-code.ts";
import { AgentError } from "../errors.ts";

interface CallFailure {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** The error for whatever a provider of the AI SDK threw or put into its stream. */
export function providerFailure(error: unknown): AgentError {
  if (error instanceof AgentError) return error;
  const call = findCall(error);
  if (call === undefined) return connectionFailure(error);
  const { status, headers, body } = call;
  const words = wordsOf(body);
  const retryAfter = waitOf(headers);
  if (status === 401 || status === 403) {
    return new AgentError("ERR_AGENT_AUTH", `the model's server refused the key (${status})`, {
      status,
    });
  }
  if (isOverflow(status, body)) {
    const message = `the question is longer than the model's context (${status})${words}`;
    return new AgentError("ERR_AGENT_CONTEXT_OVERFLOW", message, { status });
  }
  if (status === 429) {
    const spent = /insufficient_quota|billing/.test(body);
    const message = spent
      ? "the account of the model's server is spent (429)"
      : "the model's server is asked too often (429)";
    const options = { status, retryable: !spent, retryAfter };
    return new AgentError("ERR_AGENT_RATE_LIMITED", message, options);
  }
  const retryable = status === 408 || status === 409 || status >= 500;
  const hint = status === 404 && words === "" ? ": its base URL may be wrong, many end in /v1" : "";
  const message = `the model's server answered ${status}${words}${hint}`;
  return new AgentError("ERR_AGENT_PROVIDER", message, { status, retryable, retryAfter });
}

function connectionFailure(error: unknown): AgentError {
  const name = error instanceof Error ? error.name : typeof error;
  if (/TypeValidation|JSONParse|InvalidResponse|EmptyResponse/.test(name)) {
    return new AgentError("ERR_AGENT_PROVIDER", "the model's server sent an invalid response", {
      retryable: true,
    });
  }
  if (/LoadAPIKey/.test(name)) {
    return new AgentError("ERR_AGENT_AUTH", "the provider has no key");
  }
  if (isMistake(error)) {
    const message = `the provider has a mistake: ${name} ${error.message.slice(0, 300)}`;
    return new AgentError("ERR_AGENT_PROVIDER", message, { cause: error });
  }
  const refused = refusedByFetch(error);
  if (refused !== undefined) return new AgentError("ERR_AGENT_PROVIDER", refused);
  const words = isObject(error) && !(error instanceof Error) ? wordsOf(JSON.stringify(error)) : "";
  const system = systemCode(error);
  const what = unreached.test(system)
    ? "the model's server cannot be reached"
    : "the answer of the model's server broke off";
  const message = `${what}${system === "" ? words : ` (${system})`}`;
  return new AgentError("ERR_AGENT_PROVIDER", message, { retryable: true });
}

/** Codes of connections that never were: of names, of addresses, of TLS. */
const unreached =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_(?:SSL|TLS)_\w+|\w*CERT\w*|UNABLE_TO_\w+)$/;

/** Reason why Node's `fetch` always refuses a request; only the error's cause has it. */
function refusedByFetch(error: unknown): string | undefined {
  for (const { message } of withCauses(error)) {
    if (message === "unexpected redirect") {
      return "the model's server answers with a redirect, which is not followed: give the base URL that it leads to";
    }
    if (message === "bad port") return "fetch refuses the port of the model's server";
  }
  return undefined;
}

/** Whether a question was refused or found no server, judged by messages of this file: no bill. */
export function neverArrived(error: Error | undefined): boolean {
  if (error instanceof AgentError && error.status !== undefined) return error.status < 500;
  const unsent = /\((?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN)\)$|^fetch refuses|a redirect, which/;
  return unsent.test(error?.message ?? "");
}

/** Errors of code that is wrong: no retry. `fetch` throws a TypeError for connections too. */
function isMistake(error: unknown): error is Error {
  if (!(error instanceof Error) || error.cause !== undefined || "code" in error) return false;
  if (error.name === "ReferenceError") return true;
  const isWrongUse =
    /is not (?:a function|a constructor|iterable|async iterable|defined)|^Cannot (?:read|set|convert|destructure|access|assign)/;
  return error.name === "TypeError" && isWrongUse.test(error.message);
}

/** The failed call in an error or its causes, by its fields: there may be two SDK copies. */
function findCall(error: unknown): CallFailure | undefined {
  for (let next = error, depth = 0; next instanceof Error && depth < 5; depth += 1) {
    if ("responseBody" in next || "statusCode" in next) {
      const status = "statusCode" in next ? next.statusCode : undefined;
      const body = "responseBody" in next ? next.responseBody : undefined;
      const headers = "responseHeaders" in next ? next.responseHeaders : undefined;
      // A body of 200 that cannot be read is reported with status 200: that is not a refusal, but
      // garbage.
      if (typeof status === "number" && status >= 400) {
        return {
          status,
          headers: isObject(headers) ? headers : {},
          body: typeof body === "string" ? body.slice(0, 10_000) : "",
        };
      }
    }
    next = "lastError" in next ? next.lastError : next.cause;
  }
  return undefined;
}

function waitOf(headers: CallFailure["headers"]): number | undefined {
  const inMilliseconds = Number(headers["retry-after-ms"]);
  if (headers["retry-after-ms"] !== undefined && inMilliseconds >= 0) return inMilliseconds;
  const field = headers["retry-after"];
  return typeof field === "string" ? parseRetryAfter(field) : undefined;
}

function isOverflow(status: number, body: string): boolean {
  if (status === 413) return true;
  const asksTooMuch =
    /context_length_exceeded|context (?:length|window|size)|prompt is too long|too many (?:input )?tokens|exceeds? the available context/i;
  return status === 400 && asksTooMuch.test(body);
}

/** One line of what the server said, without what may be a key. */
function wordsOf(body: string): string {
  const text = /"message"\s*:\s*"((?:[^"\\]|\\.){1,300})/.exec(body)?.[1] ?? "";
  const line = unescaped(text)
    .replace(/\s+/g, " ")
    .replace(/[\p{Cc}\p{Cf}]/gu, "")
    .replace(/\b(?:sk|key|pk|Bearer)[-_ ][\w.*-]+/gi, "…");
  return line === "" ? "" : `: ${line}`;
}

/** Text of a piece of a JSON string; where it ends in an escape, only white space is decoded. */
function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text.replace(/\\[nrt]/g, " ");
  }
}

function systemCode(error: unknown): string {
  for (const each of withCauses(error)) {
    const code = codeOf(each);
    if (code !== undefined && /^[A-Z_]{3,40}$/.test(code)) return code;
  }
  return "";
}

/** An error, what caused it, and so on; causes may go in a circle. */
function withCauses(error: unknown): readonly Error[] {
  const found: Error[] = [];
  for (let next = error; next instanceof Error && found.length < 5; next = next.cause) {
    found.push(next);
  }
  return found;
}
