/** Adds decimal numbers exactly and rounds once: 0.1 and 0.2 make 0.3, in any order. */
export function sumDecimals(texts: readonly string[]): number {
  /** Sums of digits, by the power of ten that they are multiplied by. */
  const sums = new Map<number, bigint>();
  for (const text of texts) {
    const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
    const [whole = "", fraction = ""] = mantissa.split(".");
    const power = Number(exponent) - fraction.length;
    sums.set(power, (sums.get(power) ?? 0n) + BigInt(whole + fraction));
  }
  const lowest = Math.min(0, ...sums.keys());
  let total = 0n;
  for (const [power, sum] of sums) total += sum * 10n ** BigInt(power - lowest);
  // JavaScript reads any number of digits and rounds once.
  return Number(`${total}e${lowest}`);
}
