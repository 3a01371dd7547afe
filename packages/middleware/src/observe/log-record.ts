import { oneCompactLine, oneLine } from "../log/one-line.ts";

/** Facts about an exchange after its end, as they came: formatters escape. */
export interface LogRecord {
  /** End of the exchange. */
  readonly time: Date;
  /** `ERROR` for a status of 500 and more, else `INFO`. */
  readonly level: "INFO" | "ERROR";
  /** Prefix of the logger. */
  readonly prefix: string | undefined;
  /** Method of the request. */
  readonly method: string;
  /** Path and query, percent-encoded as they came, with secret values masked. */
  readonly url: string;
  /** Identifier of the exchange. */
  readonly requestId: string | undefined;
  /** Status that was sent; 499 when the client went away before there was one. */
  readonly status: number;
  /** Bytes of body that were sent, after content coding. */
  readonly bytes: number;
  /** Milliseconds from the start to the last byte. */
  readonly duration: number;
  /** Whether the client went away before it had the whole response. */
  readonly aborted: boolean;
  /** Address of the client, after the `ip` function. */
  readonly ip: string | undefined;
  /** Result of the `user` function. */
  readonly user: string | undefined;
  /** Result of the `subject` function. */
  readonly subject: string | undefined;
  /** `Referer` of the request, with secret values masked. Not read for the format `spec`. */
  readonly referer: string | undefined;
  /** `User-Agent` of the request. Not read for the format `spec`. */
  readonly userAgent: string | undefined;
  /** Start of the part of the request's body that the handler read; only when bodies are logged. */
  readonly body: string | undefined;
}

/** Writes a record as a line, without the line break at its end. */
export type LogFormatter = (record: LogRecord) => string;

/**
 * The line of the specification: `<timestamp> [<level>] <method> - <path?query> - <request-id> -
 * <status> (<size>) - <duration>`, then address, user, subject and body if they are logged, and
 * `aborted` if the client went away.
 */
export function formatSpec(record: LogRecord): string {
  const { time, level, prefix, method, requestId, status, bytes, duration } = record;
  let line = `${time.toISOString()} [${level}] `;
  if (prefix !== undefined && prefix !== "") line += `${oneLine(prefix)} `;
  line += `${method} - ${oneLine(record.url)} - `;
  if (requestId !== undefined) line += `${oneLine(requestId)} - `;
  line += `${status} (${bytes}) - ${formatDuration(duration)}`;
  line += field(record.ip) + field(record.user) + field(record.subject);
  if (record.body !== undefined && record.body !== "") {
    line += ` - ${oneCompactLine(record.body)}`;
  }
  return record.aborted ? `${line} - aborted` : line;
}

function field(value: string | undefined): string {
  return value === undefined || value === "" ? "" : ` - ${oneLine(value)}`;
}

/** Apache's combined log format, in UTC. Not every runtime knows the protocol: `HTTP/1.1`. */
export function formatCombined(record: LogRecord): string {
  const { ip, user, time, method, url, status, bytes, referer, userAgent } = record;
  const [, day = "", month = "", year = "", clock = ""] = time.toUTCString().split(/[\s,]+/);
  const date = `${day}/${month}/${year}:${clock} +0000`;
  const request = quote(`${method} ${url} HTTP/1.1`);
  return `${plain(ip)} - ${plain(user)} [${date}] ${request} ${status} ${bytes} ${quote(referer)} ${quote(userAgent)}`;
}

/** One JSON object per line without absent members; `time` ISO 8601, `duration` ms. */
export function formatJSON(record: LogRecord): string {
  const { aborted, ...rest } = record;
  const line = JSON.stringify(aborted ? record : rest);
  // Valid in JSON, but not safe in terminals and log viewers.
  return line.replace(
    /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A field without quotes: spaces would look like the next field. */
function plain(value: string | undefined): string {
  return value === undefined || value === "" ? "-" : oneLine(value).replaceAll(/\s/g, "+");
}

function quote(value: string | undefined): string {
  if (value === undefined || value === "") return '"-"';
  return `"${oneLine(value.replaceAll("\\", "\\\\").replaceAll('"', '\\"'))}"`;
}

/**
 * Writes a duration in the largest unit that keeps it above one, as Go does: `0s`, `812.3µs`,
 * `4.2ms`, `4.47784618s`, `1m2.5s`, `1h0m0s`.
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
