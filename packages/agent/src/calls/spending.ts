import { cancelled } from "../errors.ts";

/** Tokens and US dollars. */
export interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

/** What counts against limits. */
export interface Standing {
  /** What was used, and what may have been. */
  readonly charged: Amount;
  /** The worst case of the calls that are under way. */
  readonly reserved: Amount;
}

/** Keeps what counts against the limits of a budget, for all who spend it. */
export interface Spending {
  /**
   * Reserves what `decide` makes of what counts now, with nothing of others in between; undefined: nothing yet. Passes
   * on what it throws.
   */
  reserve(
    decide: (standing: Standing) => Amount | undefined,
  ): Promise<Amount | undefined> | Amount | undefined;
  /** Charges what was used instead of what was reserved. */
  settle(reserved: Amount, used: Amount): void;
  /** Resolves when there may be more room. Rejects when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

/** Nothing. */
export const noAmount: Amount = { tokens: 0, cost: 0 };

/** The sum of two amounts. */
export function addAmount(left: Amount, right: Amount): Amount {
  return { tokens: left.tokens + right.tokens, cost: left.cost + right.cost };
}

/** What is left of an amount; never less than nothing, whatever sums of fractions come to. */
export function takeAmount(from: Amount, amount: Amount): Amount {
  const tokens = Math.max(0, from.tokens - amount.tokens);
  return { tokens, cost: tokens === 0 ? 0 : Math.max(0, from.cost - amount.cost) };
}

/** Keeps what one budget spends in memory. */
export class OwnSpending implements Spending {
  readonly #waiting = new Set<() => void>();
  #charged: Amount = noAmount;
  #reserved: Amount = noAmount;

  get charged(): Amount {
    return this.#charged;
  }

  charge(amount: Amount): void {
    this.#charged = addAmount(this.#charged, amount);
  }

  reserve(decide: (standing: Standing) => Amount | undefined): Amount | undefined {
    const amount = decide({ charged: this.#charged, reserved: this.#reserved });
    if (amount !== undefined) this.#reserved = addAmount(this.#reserved, amount);
    return amount;
  }

  settle(reserved: Amount, used: Amount): void {
    this.#reserved = takeAmount(this.#reserved, reserved);
    this.charge(used);
    for (const wake of this.#waiting) wake();
  }

  changed(signal: AbortSignal): Promise<void> {
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
