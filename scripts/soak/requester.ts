import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { isObject } from "@fetchwork/kit";
import type { Random } from "../../test/blog-fuzz/random.ts";
import type { Ledger } from "./ledger.ts";

/** A request of a client of the soak. */
export interface SoakRequest {
  readonly method: "DELETE" | "GET" | "PATCH" | "POST";
  readonly path: string;
  readonly body?: object | undefined;
  /**
   * Entity tag of the document that the request changes: an attempt that is late changes no newer
   * one.
   */
  readonly ifMatch?: string | undefined;
}

/** The final response to a request, which may have taken several attempts. */
export interface Outcome {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly etag: string | undefined;
  /** Whether an attempt before it had no response, so that nobody knows what it did. */
  readonly isRepeated: boolean;
}

/** What a requester works with. */
export interface RequesterOptions {
  readonly origin: string;
  readonly token: string;
  readonly random: Random;
  readonly ledger: Ledger;
}

/** How long a request is repeated until it is a difference, in milliseconds. */
const maxTime = 120_000;
/** Temporary refusals: the same request is sent again. */
const transient: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504, 507]);

/**
 * Sends requests until each has a final response, under one `Idempotency-Key` where it is a POST.
 * One attempt in 50 is cut off.
 */
export function createRequester({
  origin,
  token,
  random,
  ledger,
}: RequesterOptions): (request: SoakRequest) => Promise<Outcome> {
  return async (request) => {
    const key = randomUUID();
    const end = performance.now() + maxTime;
    let isRepeated = false;
    for (let pause = 20; ; pause = Math.min(pause * 2, 1_000)) {
      const first = await attempt(request, key);
      if (first === undefined) isRepeated = true;
      else if (!transient.has(first.status)) {
        if (request.method === "POST" && random.chance(0.03)) await repeat(request, key, first);
        return { ...first, isRepeated };
      }
      if (performance.now() > end)
        throw new Error(`${request.method} ${request.path}: no response`);
      await setTimeout(pause);
    }
  };

  async function attempt(
    { method, path, body, ifMatch }: SoakRequest,
    key: string,
  ): Promise<Omit<Outcome, "isRepeated"> | undefined> {
    const isCut = random.chance(0.02);
    ledger.count("requests");
    if (isCut) ledger.count("requests cut off");
    try {
      const response = await fetch(origin + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && { "content-type": "application/json" }),
          ...(method === "POST" && { "idempotency-key": key }),
          ...(ifMatch !== undefined && { "if-match": ifMatch }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(isCut ? 1 + random.below(30) : 10_000),
      });
      const text = await response.text();
      const { status } = response;
      ledger.count(`status ${status}`);
      if (status === 500 || status === 502 || status === 504) {
        ledger.differs(`${method} ${path} has the status ${status}: ${text}`);
      }
      const parsed: unknown = text === "" ? {} : JSON.parse(text);
      const etag = response.headers.get("etag") ?? undefined;
      return { status, body: isObject(parsed) ? parsed : {}, etag };
    } catch {
      ledger.count("requests without a response");
      return undefined;
    }
  }

  /** Sends a POST again whose response is known: it must get the same one. */
  async function repeat(
    request: SoakRequest,
    key: string,
    first: Omit<Outcome, "isRepeated">,
  ): Promise<void> {
    const again = await attempt(request, key);
    if (again === undefined || transient.has(again.status)) return;
    ledger.count("repetitions with the same key");
    const isSame = JSON.stringify(again) === JSON.stringify(first);
    // What was refused is not kept, and may have another reason by now.
    if (first.status < 300 && !isSame) {
      ledger.differs(
        `${request.path}: ${JSON.stringify(first)} became ${JSON.stringify(again)} when repeated`,
      );
    }
  }
}
