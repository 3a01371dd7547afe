import type { ScalarValue } from "../api/where.ts";

/**
 * Compares scalar values in the order of `sort`: null, numbers and booleans, strings by code point.
 * A number comes before the boolean that equals it, so that no two different values are equal.
 */
export function compareScalars(one: ScalarValue, other: ScalarValue): number {
  if (typeof one === "string" && typeof other === "string") return compareTexts(one, other);
  if (typeof one === "number" && typeof other === "number") return compareNumbers(one, other);
  const rank = rankOf(one) - rankOf(other);
  if (rank !== 0 || one === null || other === null) return rank;
  const difference = Number(one) - Number(other);
  return difference === 0
    ? Number(typeof one === "boolean") - Number(typeof other === "boolean")
    : difference;
}

/** Not by subtraction, in which two infinities make NaN. */
function compareNumbers(one: number, other: number): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function rankOf(value: ScalarValue): number {
  if (value === null) return 0;
  return typeof value === "string" ? 2 : 1;
}

/** Compares by code point; JavaScript compares UTF-16 units: surrogates before U+E000. */
function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index += 1) {
    const unit = one.charCodeAt(index);
    const otherUnit = other.charCodeAt(index);
    if (unit !== otherUnit) return placeOf(unit) - placeOf(otherUnit);
  }
  return one.length - other.length;
}

function placeOf(unit: number): number {
  return unit >= 0xd8_00 && unit <= 0xdf_ff ? unit + 0x1_00_00 : unit;
}
