import { TokenValidationError } from "../errors.ts";
import type { JsonRecord } from "../../json-record.ts";

/** Now, and how far clocks may differ, both in seconds. */
export interface ClaimTime {
  readonly now: number;
  readonly tolerance: number;
}

/** Checks claims of a token; the error names the invalid one. */
export class ClaimChecker {
  readonly #claims: JsonRecord;
  readonly #what: string;

  constructor(claims: JsonRecord, what: string) {
    this.#claims = claims;
    this.#what = what;
  }

  /** The error for a claim. */
  fail(claim: string, problem: string): TokenValidationError {
    return new TokenValidationError(`the ${claim} of the ${this.#what} ${problem}`, { claim });
  }

  /** Requires a text that is not empty. */
  text(claim: string): string {
    const value = this.#claims[claim];
    if (value === undefined) throw this.fail(claim, "is missing");
    if (typeof value !== "string" || value === "") throw this.fail(claim, "is not text");
    return value;
  }

  /** Requires exactly this text, or one of these. */
  oneOf(claim: string, expected: string | readonly string[]): void {
    const value = this.text(claim);
    const isExpected = typeof expected === "string" ? value === expected : expected.includes(value);
    if (isExpected) return;
    const wanted = typeof expected === "string" ? expected : expected.join(" or ");
    throw this.fail(claim, `must be ${wanted}, got ${JSON.stringify(value.slice(0, 200))}`);
  }

  /** Requires exactly this text; the error does not show it. */
  same(claim: string, expected: string): void {
    if (this.text(claim) !== expected) throw this.fail(claim, "is another than expected");
  }

  /** Requires a finite number. */
  number(claim: string): number {
    const value = this.optionalNumber(claim);
    if (value === undefined) throw this.fail(claim, "is missing");
    return value;
  }

  /** Requires a finite number that is not negative, or nothing. */
  optionalNumber(claim: string): number | undefined {
    const value = this.#claims[claim];
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
      throw this.fail(claim, "is not a time");
    return value;
  }

  /** Requires `aud` to have this audience, alone or in a list. */
  audience(expected: string): void {
    const { aud } = this.#claims;
    if (aud === undefined) throw this.fail("aud", "is missing");
    const isExpected = Array.isArray(aud) ? aud.includes(expected) : aud === expected;
    if (!isExpected) throw this.fail("aud", `does not have ${expected}`);
  }

  /** Checks `exp` and `nbf`, where they are present (RFC 7519, 4.1.4 and 4.1.5). */
  times({ now, tolerance }: ClaimTime): void {
    const exp = this.optionalNumber("exp");
    if (exp !== undefined && exp <= now - tolerance) throw this.fail("exp", "has passed");
    const nbf = this.optionalNumber("nbf");
    if (nbf !== undefined && nbf > now + tolerance) throw this.fail("nbf", "is not yet reached");
  }
}
