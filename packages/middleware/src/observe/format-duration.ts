/**
 * Writes a duration in the largest unit that keeps it above one, as Go does: `0s`, `812.3µs`, `4.2ms`, `4.47784618s`,
 * `1m2.5s`, `1h0m0s`.
 *
 * @param milliseconds - Rounded to nanoseconds; below zero counts as zero.
 */
export function formatDuration(milliseconds: number): string {
  const nanoseconds = Math.max(0, Math.round(milliseconds * 1e6));
  if (!Number.isFinite(nanoseconds)) return "0s";
  if (nanoseconds === 0) return "0s";
  if (nanoseconds < 1e3) return `${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${decimal(nanoseconds, 1e3)}µs`;
  if (nanoseconds < 1e9) return `${decimal(nanoseconds, 1e6)}ms`;
  if (nanoseconds < 60e9) return `${decimal(nanoseconds, 1e9)}s`;
  const minutes = Math.floor(nanoseconds / 60e9);
  const seconds = decimal(nanoseconds - minutes * 60e9, 1e9);
  return minutes < 60
    ? `${minutes}m${seconds}s`
    : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}s`;
}

/** Divides exactly, without the noise of binary fractions. */
function decimal(value: number, unit: number): string {
  const whole = Math.floor(value / unit);
  const rest = value % unit;
  if (rest === 0) return String(whole);
  const fraction = String(rest).padStart(String(unit).length - 1, "0");
  return `${whole}.${fraction.replace(/0+$/, "")}`;
}
