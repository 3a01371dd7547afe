/** Reads one date in the formats of `parseFromTo`; undefined for anything else. */
export function parseTimestamp(text: string): Date | undefined {
  const match = dateTime.exec(text) ?? date.exec(text);
  if (match?.groups === undefined) return undefined;
  const { year, month, day, hour, minute, second, fraction = "", zone } = match.groups;
  // RFC 3339 requires seconds before a zone.
  if (zone !== undefined && second === undefined) return undefined;
  const offset = offsetOf(zone);
  const parts = [year, month, day, hour, minute, second].map((part) => Number(part ?? 0));
  const [y = 0, m = 0, d = 0, h = 0, min = 0, s = 0] = parts;
  if (h > 23 || min > 59 || s > 59 || offset === undefined) return undefined;
  const time = new Date(0);
  time.setUTCFullYear(y, m - 1, d);
  // A day that the month does not have has moved into another month.
  if (time.getUTCMonth() !== m - 1 || time.getUTCDate() !== d) return undefined;
  time.setUTCHours(h, min - offset, s, Number(fraction.padEnd(3, "0").slice(0, 3)));
  return time;
}

const date = /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)$/;
// A plus sign in a query means a space (WHATWG URL, 5.1), so an offset may start with a space.
const dateTime =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T(?<hour>\d\d):(?<minute>\d\d)(:(?<second>\d\d)(\.(?<fraction>\d{1,9}))?)?(?<zone>Z|[+ -]\d\d:\d\d)?$/;

/** Minutes east of Greenwich; undefined for an invalid zone. */
function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
