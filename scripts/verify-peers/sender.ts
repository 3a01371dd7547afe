import type { Caller } from "./api.ts";

/** A request, as a report shows it. */
export interface ShownRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** What is sent as JSON; a text is sent as it is. */
  readonly body?: unknown;
}

/** What a request got. */
export interface Answer {
  readonly request: ShownRequest;
  /** 0 when no response came. */
  readonly status: number;
  readonly text: string;
  /** Body as JSON; `undefined` for one that is not. */
  readonly json: unknown;
}

const limit = 15_000;

/** Sends requests of callers to one API. */
export class Sender {
  readonly #url: string;
  requests = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async send({ headers }: Caller, request: ShownRequest): Promise<Answer> {
    this.requests += 1;
    const { body, method, path } = request;
    const hasBody = body !== undefined;
    try {
      const response = await fetch(this.#url + path, {
        method,
        headers: { ...headers, ...(hasBody ? { "content-type": "application/json" } : {}) },
        redirect: "manual",
        signal: AbortSignal.timeout(limit),
        ...(hasBody ? { body: typeof body === "string" ? body : JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      return { request, status: response.status, text, json: parsed(text) };
    } catch (error) {
      return { request, status: 0, text: String(error), json: undefined };
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
