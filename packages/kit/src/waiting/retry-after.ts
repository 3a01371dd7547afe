const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/**
 * Parses a `Retry-After` (RFC 9110, 10.2.3): seconds, or a date in one of its three forms (5.6.7).
 *
 * @param now - Milliseconds since 1970. Default: the current time.
 * @returns Milliseconds to wait, 0 for a date in the past; undefined for an invalid field.
 */
export function parseRetryAfter(field: string, now: number = Date.now()): number | undefined {
  const text = field.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const date = parseHttpDate(text, now);
  return date === undefined ? undefined : Math.max(0, date - now);
}

const time = "(\\d{2}):(\\d{2}):(\\d{2})";
const current = new RegExp(`^[A-Z][a-z]{2}, (\\d{2}) ([A-Z][a-z]{2}) (\\d{4}) ${time} GMT$`);
const rfc850 = new RegExp(`^[A-Z][a-z]{5,8}, (\\d{2})-([A-Z][a-z]{2})-(\\d{2}) ${time} GMT$`);
const asctime = new RegExp(`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \\d]\\d) ${time} (\\d{4})$`);

function parseHttpDate(text: string, now: number): number | undefined {
  const [, day, month, year, ...clock] = current.exec(text) ?? [];
  if (day !== undefined) return dateOf({ year: Number(year), month, day, clock });
  const [, day850, month850, year850, ...clock850] = rfc850.exec(text) ?? [];
  if (day850 !== undefined) {
    return dateOf({
      year: fullYear(Number(year850), now),
      month: month850,
      day: day850,
      clock: clock850,
    });
  }
  const [, monthC, dayC, hour, minute, second, yearC] = asctime.exec(text) ?? [];
  if (dayC === undefined) return undefined;
  const clockC = [hour, minute, second];
  return dateOf({ year: Number(yearC), month: monthC, day: dayC, clock: clockC });
}

/** RFC 9110, 5.6.7: a two-digit year more than 50 years in the future is in the past. */
function fullYear(two: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + two;
  return year > thisYear + 50 ? year - 100 : year;
}

interface DateParts {
  readonly year: number;
  readonly month: string | undefined;
  readonly day: string;
  readonly clock: readonly (string | undefined)[];
}

function dateOf({ year, month = "", day, clock }: DateParts): number | undefined {
  const [hour = 0, minute = 0, second = 0] = clock.map(Number);
  const index = months.indexOf(month);
  const date = new Date(Date.UTC(year, index, Number(day), hour, minute, second));
  const isDate = index !== -1 && date.getUTCDate() === Number(day);
  return isDate && hour < 24 && minute < 60 && second <= 60 ? date.getTime() : undefined;
}
