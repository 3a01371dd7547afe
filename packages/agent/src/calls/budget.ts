import { EventEmitter, once } from "node:events";
import { isObject } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import { AgentError, cancelled, checkCount, checkTime, optionError } from "../errors.ts";
import type { ModelRequest, TokenCount } from "../models/model-provider.ts";

/** US dollars per million tokens. */
export interface ModelPrice {
  /** Price of questions. */
  readonly input: number;
  /** Price of what the server had kept of an earlier question. Default: `input`. */
  readonly cachedInput?: number | undefined;
  /** Price of answers. */
  readonly output: number;
}

/** Limits of what calls may use together. */
export interface BudgetOptions {
  /** Maximum tokens of questions and answers together. Default: no limit. */
  readonly maxTokens?: number | undefined;
  /** Maximum cost in US dollars. Needs `prices` of all models that are asked. Default: no limit. */
  readonly maxCost?: number | undefined;
  /** Maximum milliseconds since the budget was made; at most 24 days. Default: no limit. */
  readonly maxTime?: number | undefined;
  /** Prices of models, which are never guessed. Default: none is known. */
  readonly prices?: Readonly<Record<string, ModelPrice>> | undefined;
  /** Maximum tokens of an answer, where a call sets none and a limit is set. Default: `16_384`. */
  readonly maxOutputTokens?: number | undefined;
}

/** Usage by calls: tokens, dollars and attempts. */
export interface Usage extends TokenCount {
  /** US dollars; `null` when the price of a model is not known. */
  readonly cost: number | null;
  /** Attempts that were made, failed ones included. */
  readonly calls: number;
}

/** Amount that counts against limits: known use, and possible use. */
export interface Amount {
  /** Tokens of questions and answers together. */
  readonly tokens: number;
  /** US dollars. */
  readonly cost: number;
}

/** Room for one call. */
export interface Reservation {
  /** Maximum tokens that the answer may have; undefined: the server's own limit. */
  readonly maxOutputTokens: number | undefined;
  /** Whether that is less than was asked for, because no more is left. */
  readonly isShortened: boolean;
  /** Replaces the reservation by what was used. Without a count, all of it counts as used. */
  settle(count: TokenCount | undefined): Usage;
  /** Returns it, for a call that never reached the server. */
  release(): void;
}

/** Answers shorter than this are no use for a file. */
const minOutput = 256;

/**
 * Counts what calls use, and lets none begin that could pass a limit: each reserves its worst case
 * first: a byte of the question is at most a token, and the answer's limit is sent along. So the
 * limits hold with any number of calls at once. Where only reservations stand against it, a call
 * waits for them.
 */
export class Budget {
  readonly #maxTokens: number;
  readonly #maxCost: number;
  readonly #limited: boolean;
  readonly #maxOutput: number;
  readonly #prices: ReadonlyMap<string, ModelPrice>;
  readonly #maxTime: number | undefined;
  /** Emits `settled` when a call returned what it had reserved. */
  readonly #calling = new EventEmitter().setMaxListeners(0);
  #charged: Amount = noAmount;
  /** The worst case of the calls that run. */
  #reserved: Amount = noAmount;
  #deadline: AbortSignal | undefined;
  #timer: NodeJS.Timeout | undefined;
  #usage = noUsage;

  constructor(options: BudgetOptions = {}) {
    const names = ["maxTokens", "maxCost", "maxTime", "prices", "maxOutputTokens"] as const;
    checkOptions("Budget", options, names);
    const { maxTokens, maxCost, maxTime, prices = {}, maxOutputTokens = 16_384 } = options;
    checkCount("maxTokens", maxTokens);
    checkTime("maxTime", maxTime);
    checkCount("maxOutputTokens", maxOutputTokens);
    if (maxCost !== undefined && !(maxCost > 0)) {
      throw optionError("maxCost", maxCost, "a number of US dollars above 0");
    }
    for (const [model, { input, output, cachedInput = 0 }] of Object.entries(prices)) {
      if (!(input >= 0 && output >= 0 && cachedInput >= 0)) {
        throw optionError(`price of ${model}`, `${input}, ${output}`, "two numbers from 0 on");
      }
    }
    this.#maxTokens = maxTokens ?? Infinity;
    this.#maxCost = maxCost ?? Infinity;
    this.#limited = maxTokens !== undefined || maxCost !== undefined;
    this.#maxOutput = maxOutputTokens;
    this.#prices = new Map(Object.entries(prices));
    this.#maxTime = maxTime;
    this.#startClock(0);
  }

  /** A signal that aborts with the given one, and when `maxTime` is over. */
  within(signal?: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#deadline].filter((one) => one !== undefined));
  }

  /** Usage so far. */
  get usage(): Usage {
    return this.#usage;
  }

  /** Amount that counts against the limits: above the usage where a server did not report it. */
  get charged(): Amount {
    return this.#charged;
  }

  /**
   * Counts what an earlier process used, so that a resumed run has no second budget; `elapsed` is
   * how many milliseconds of `maxTime` are over.
   */
  restore(usage: Usage, charged: Amount = chargeOf(usage), elapsed = 0): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#charged = addAmount(this.#charged, charged);
    if (elapsed > 0) this.#startClock(elapsed);
  }

  /** Stops the clock of `maxTime`. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #startClock(elapsed: number): void {
    const maxTime = this.#maxTime;
    if (maxTime === undefined) return;
    clearTimeout(this.#timer);
    const controller = new AbortController();
    const late = (): void =>
      controller.abort(new AgentError("ERR_AGENT_BUDGET", `the time of ${maxTime} ms is used up`));
    if (elapsed >= maxTime) late();
    else this.#timer = setTimeout(late, maxTime - elapsed).unref();
    this.#deadline = controller.signal;
  }

  /**
   * Reserves the worst case of a call, waiting for running ones where that helps.
   *
   * @throws AgentError `ERR_AGENT_BUDGET` when the call could pass a limit, or its price is not
   * known and money is limited
   */
  async reserve(request: ModelRequest, signal: AbortSignal): Promise<Reservation> {
    const price = this.#prices.get(request.model);
    if (price === undefined && this.#maxCost !== Infinity) {
      throw new AgentError(
        "ERR_AGENT_BUDGET",
        `money is limited, but the price of ${request.model} is not known`,
      );
    }
    if (!this.#limited) return this.#reservation(request, price, undefined, noAmount);
    const input = worstInput(request);
    const wanted = request.maxOutputTokens ?? this.#maxOutput;
    for (;;) {
      const output = Math.min(wanted, this.#roomFor(input, price));
      const isAlone = this.#reserved.tokens === 0;
      // Others will return most of theirs: waiting is better than a short answer.
      if (output >= wanted || (isAlone && output >= minOutput)) {
        const amount = amountOf(input, output, price);
        this.#reserved = addAmount(this.#reserved, amount);
        return this.#reservation(request, price, output, amount);
      }
      if (isAlone) {
        throw new AgentError(
          "ERR_AGENT_BUDGET",
          `the budget has no room for another call, after ${this.#charged.tokens} tokens`,
        );
      }
      await once(this.#calling, "settled", { signal }).catch(() => {
        throw cancelled(signal);
      });
    }
  }

  #roomFor(input: number, price: ModelPrice | undefined): number {
    const { tokens, cost } = addAmount(this.#charged, this.#reserved);
    const byTokens = this.#maxTokens - tokens - input;
    if (price === undefined || price.output === 0) return byTokens;
    const money = this.#maxCost - cost - (input * price.input) / 1e6;
    return Math.min(byTokens, Math.floor((money / price.output) * 1e6));
  }

  #reservation(
    request: ModelRequest,
    price: ModelPrice | undefined,
    output: number | undefined,
    amount: Amount,
  ): Reservation {
    let open = true;
    const close = (charged: Amount): boolean => {
      if (!open) return false;
      open = false;
      this.#reserved = takeAmount(this.#reserved, amount);
      this.#charged = addAmount(this.#charged, charged);
      this.#calling.emit("settled");
      return true;
    };
    return {
      maxOutputTokens: output ?? request.maxOutputTokens,
      isShortened: output !== undefined && output < (request.maxOutputTokens ?? this.#maxOutput),
      settle: (count) => {
        const { inputTokens = 0, outputTokens = 0, cachedInputTokens: kept = 0 } = count ?? {};
        const used = amountOf(inputTokens, outputTokens, price, kept);
        const known = price !== undefined && count !== undefined;
        const usage = { inputTokens, outputTokens, cost: known ? used.cost : null, calls: 1 };
        if (close(count === undefined ? amount : used)) {
          this.#usage = addUsage(this.#usage, usage);
        }
        return usage;
      },
      release: () => void close(noAmount),
    };
  }
}

/** No call. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 };

/** The sum of two uses. */
export function addUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cost: left.cost === null || right.cost === null ? null : left.cost + right.cost,
    calls: left.calls + right.calls,
  };
}

/** Nothing. */
export const noAmount: Amount = { tokens: 0, cost: 0 };

/** The sum of two amounts. */
export function addAmount(left: Amount, right: Amount): Amount {
  return { tokens: left.tokens + right.tokens, cost: left.cost + right.cost };
}

/** Remainder of an amount; never below zero, whatever sums of fractions come to. */
export function takeAmount(from: Amount, amount: Amount): Amount {
  const tokens = Math.max(0, from.tokens - amount.tokens);
  return { tokens, cost: tokens === 0 ? 0 : Math.max(0, from.cost - amount.cost) };
}

/** Amount that counts for a known usage. */
export function chargeOf({ inputTokens, outputTokens, cost }: Usage): Amount {
  return { tokens: inputTokens + outputTokens, cost: cost ?? 0 };
}

function amountOf(input: number, output: number, price: ModelPrice | undefined, kept = 0): Amount {
  const { input: perInput = 0, output: perOutput = 0, cachedInput = perInput } = price ?? {};
  const cached = Math.min(kept, input);
  const cost = ((input - cached) * perInput + cached * cachedInput + output * perOutput) / 1e6;
  return { tokens: input + output, cost };
}

/** Byte-level tokenizers make at most one token of a byte; a message has a few more. */
function worstInput({ messages, tool, tools, turns }: ModelRequest): number {
  const encoder = new TextEncoder();
  const bytes = (text: string): number => encoder.encode(text).byteLength;
  const size = messages.reduce((sum, { content }) => sum + bytes(content) + 16, 16);
  const further = [tool, tools, turns].filter((one) => one !== undefined);
  return further.reduce((sum, one) => sum + bytes(JSON.stringify(one, countPicture)) + 512, size);
}

/** Servers make pictures smaller, so that each has some thousand tokens, whatever its bytes are. */
function countPicture(_: string, value: unknown): unknown {
  const isPicture = isObject(value) && value["type"] === "file" && isImage(value["mediaType"]);
  return isPicture ? "x".repeat(10_000) : value;
}

function isImage(mediaType: unknown): boolean {
  return typeof mediaType === "string" && mediaType.startsWith("image/");
}
