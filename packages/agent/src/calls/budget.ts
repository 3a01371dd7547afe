import { AgentError, cancelled, checkCount, checkTime, optionError } from "../errors.ts";
import type { ModelRequest, TokenCount } from "../models/model-provider.ts";

/** US dollars per million tokens. */
export interface ModelPrice {
  /** Of questions. */
  readonly input: number;
  /** Of answers. */
  readonly output: number;
}

/** Limits of what calls may use together. */
export interface BudgetOptions {
  /** Most tokens of questions and answers together. Default: no limit. */
  readonly maxTokens?: number | undefined;
  /** Most US dollars. Needs `prices` for every model that is asked. Default: no limit. */
  readonly maxCost?: number | undefined;
  /** Most milliseconds, counted from the making of the budget; at most 24 days. Default: no limit. */
  readonly maxTime?: number | undefined;
  /** What models cost. Prices are never guessed. Default: none is known. */
  readonly prices?: Readonly<Record<string, ModelPrice>> | undefined;
  /** Tokens that answers may have, where a call does not say it. Sent to the server when a limit is set. Default: `16_384`. */
  readonly maxOutputTokens?: number | undefined;
}

/** What calls have used. */
export interface Usage extends TokenCount {
  /** US dollars; `null` when the price of a model is not known. */
  readonly cost: number | null;
  /** Attempts that were made, failed ones included. */
  readonly calls: number;
}

/** Room for one call. */
export interface Reservation {
  /** Most tokens that the answer may have; undefined: the server's own limit. */
  readonly maxOutputTokens: number | undefined;
  /** Whether that is less than was asked for, because no more is left. */
  readonly isShortened: boolean;
  /** Replaces the reservation by what was used. Without a count, all of it counts as used: a bill that nobody sees is still sent. */
  settle(count: TokenCount | undefined): Usage;
  /** Gives it back, for a call that never reached the server. */
  release(): void;
}

/** Answers shorter than this are no use for a file. */
const leastOutput = 256;

interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

/**
 * Counts what calls use, and lets none begin that could pass a limit: each reserves its worst case first (a byte of the
 * question is at most a token, and the answer's limit is sent along), so the limits hold with any number of calls at
 * once. Where only reservations are in the way, a call waits for them.
 */
export class Budget {
  readonly #maxTokens: number;
  readonly #maxCost: number;
  readonly #limited: boolean;
  readonly #maxOutput: number;
  readonly #prices: ReadonlyMap<string, ModelPrice>;
  readonly #deadline: AbortSignal | undefined;
  readonly #waiting = new Set<() => void>();
  #input = 0;
  #output = 0;
  #cost: number | null = 0;
  /** Tokens that count against the limit: those used, and those that may have been. */
  #spentTokens = 0;
  #spentCost = 0;
  #reserved: Amount = { tokens: 0, cost: 0 };
  #calls = 0;

  constructor(options: BudgetOptions = {}) {
    const { maxTokens, maxCost, maxTime, prices = {}, maxOutputTokens = 16_384 } = options;
    checkCount("maxTokens", maxTokens);
    checkTime("maxTime", maxTime);
    checkCount("maxOutputTokens", maxOutputTokens);
    if (maxCost !== undefined && !(maxCost > 0)) {
      throw optionError("maxCost", maxCost, "a number of US dollars above 0");
    }
    for (const [model, { input, output }] of Object.entries(prices)) {
      if (!(input >= 0 && output >= 0)) {
        throw optionError(`price of ${model}`, `${input}, ${output}`, "two numbers from 0 on");
      }
    }
    this.#maxTokens = maxTokens ?? Infinity;
    this.#maxCost = maxCost ?? Infinity;
    this.#limited = maxTokens !== undefined || maxCost !== undefined;
    this.#maxOutput = maxOutputTokens;
    this.#prices = new Map(Object.entries(prices));
    if (maxTime !== undefined) {
      const controller = new AbortController();
      const late = (): void =>
        controller.abort(
          new AgentError("ERR_AGENT_BUDGET", `the time of ${maxTime} ms is used up`),
        );
      setTimeout(late, maxTime).unref();
      this.#deadline = controller.signal;
    }
  }

  /** Aborts when `maxTime` is over; undefined without it. */
  get deadline(): AbortSignal | undefined {
    return this.#deadline;
  }

  /** What was used so far. */
  get usage(): Usage {
    return {
      inputTokens: this.#input,
      outputTokens: this.#output,
      cost: this.#cost,
      calls: this.#calls,
    };
  }

  /** Counts what an earlier process used, so that a resumed run has no second budget. */
  restore(usage: Usage): void {
    this.#input += usage.inputTokens;
    this.#output += usage.outputTokens;
    this.#calls += usage.calls;
    this.#cost = addCost(this.#cost, usage.cost);
    this.#spentTokens += usage.inputTokens + usage.outputTokens;
    this.#spentCost += usage.cost ?? 0;
  }

  /**
   * Reserves the worst case of a call, waiting for running ones where that helps.
   *
   * @throws AgentError `ERR_AGENT_BUDGET` when the call could pass a limit, or its price is not known and money is limited
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
      const output = Math.min(wanted, this.#roomFor(input, price, this.#reserved));
      // Others will give back most of theirs: waiting is better than a short answer.
      const enough = output >= wanted || (this.#reserved.tokens === 0 && output >= leastOutput);
      if (enough) {
        const amount = amountOf(input, output, price);
        this.#reserve(amount, 1);
        return this.#reservation(request, price, output, amount);
      }
      if (this.#reserved.tokens === 0) {
        const { inputTokens, outputTokens } = this.usage;
        throw new AgentError(
          "ERR_AGENT_BUDGET",
          `the budget has no room for another call, after ${inputTokens + outputTokens} tokens`,
        );
      }
      await this.#settled(signal);
    }
  }

  #roomFor(input: number, price: ModelPrice | undefined, reserved: Amount): number {
    const byTokens = this.#maxTokens - this.#spentTokens - reserved.tokens - input;
    if (price === undefined || price.output === 0) return byTokens;
    const money = this.#maxCost - this.#spentCost - reserved.cost - (input * price.input) / 1e6;
    return Math.min(byTokens, Math.floor((money / price.output) * 1e6));
  }

  #reserve({ tokens, cost }: Amount, sign: 1 | -1): void {
    const reserved = this.#reserved;
    this.#reserved = { tokens: reserved.tokens + sign * tokens, cost: reserved.cost + sign * cost };
    if (this.#reserved.tokens === 0) this.#reserved = noAmount;
  }

  #reservation(
    request: ModelRequest,
    price: ModelPrice | undefined,
    output: number | undefined,
    amount: Amount,
  ): Reservation {
    let open = true;
    const close = (): boolean => {
      if (!open) return false;
      open = false;
      this.#reserve(amount, -1);
      for (const wake of this.#waiting) wake();
      return true;
    };
    return {
      maxOutputTokens: output ?? request.maxOutputTokens,
      isShortened: output !== undefined && output < (request.maxOutputTokens ?? this.#maxOutput),
      settle: (count) => {
        const used = this.#account(count, price, amount, open);
        close();
        return used;
      },
      release: () => void close(),
    };
  }

  #account(
    count: TokenCount | undefined,
    price: ModelPrice | undefined,
    amount: Amount,
    open: boolean,
  ): Usage {
    const { inputTokens = 0, outputTokens = 0 } = count ?? {};
    const known = price !== undefined && count !== undefined;
    const cost = known ? amountOf(inputTokens, outputTokens, price).cost : null;
    const usage = { inputTokens, outputTokens, cost, calls: 1 };
    if (!open) return usage;
    this.#calls += 1;
    this.#input += inputTokens;
    this.#output += outputTokens;
    this.#cost = addCost(this.#cost, cost);
    this.#spentTokens += count === undefined ? amount.tokens : inputTokens + outputTokens;
    this.#spentCost += count === undefined ? amount.cost : (cost ?? 0);
    return usage;
  }

  #settled(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(cancelled(signal));
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const stop = (): void => {
        this.#waiting.delete(wake);
        reject(cancelled(signal));
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", stop, { once: true });
    });
  }
}

const noAmount: Amount = { tokens: 0, cost: 0 };

function addCost(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left + right;
}

function amountOf(input: number, output: number, price: ModelPrice | undefined): Amount {
  const cost = price === undefined ? 0 : (input * price.input + output * price.output) / 1e6;
  return { tokens: input + output, cost };
}

/** Byte-level tokenizers make at most one token of a byte; the frame of a message is a handful more. */
function worstInput({ messages, tool }: ModelRequest): number {
  const encoder = new TextEncoder();
  const bytes = (text: string): number => encoder.encode(text).byteLength;
  const said = messages.reduce((sum, { content }) => sum + bytes(content) + 16, 16);
  return tool === undefined ? said : said + bytes(JSON.stringify(tool)) + 512;
}
