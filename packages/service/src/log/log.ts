import type { Middleware } from "@fetchwork/http";
import { formatSpec, logger, type LogRecord } from "@fetchwork/middleware";
import { withoutResetToken } from "./without-reset-token.ts";

/** The log of the server. */
export interface Log {
  /** Logs every exchange. Absent where there is no log. */
  readonly middleware?: Middleware | undefined;
  /** Says that the server listens at a URL; people get a greeting, where there is one. */
  readonly started: (url: string, greeting: string | undefined) => void;
  /** Logs what the service does by itself. */
  readonly noted: (message: string) => void;
  /** Logs what may be wrong with the settings. */
  readonly warned: (message: string) => void;
  /** Logs what went wrong and was nobody's request's fault. */
  readonly failed: (error: unknown) => void;
}

/** How a service logs. */
export interface LogSettings {
  /** Name of the service, in the lines for programs. */
  readonly name: string;
  readonly log: "spec" | "json" | "off";
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
}

/** Opens the log: lines for people, or objects for programs, by `pino`, loaded on demand. */
export async function openLog({ name, log, logLevel }: LogSettings): Promise<Log> {
  if (log === "json") return openPino(name, logLevel);
  return {
    middleware: log === "off" ? undefined : logger({ format: formatLine }),
    started: (_url, greeting) => greeting !== undefined && console.log(greeting),
    noted: (message) => log !== "off" && console.log(message),
    warned: (message) => console.warn(message),
    failed: (error) => console.error(error),
  };
}

async function openPino(name: string, level: LogSettings["logLevel"]): Promise<Log> {
  const { destination, pino, stdTimeFunctions } = await import("pino");
  const output = destination({ dest: 1, sync: false });
  // The reader of the log may go; the service goes on.
  output.on("error", () => undefined);
  const log = pino(
    {
      level,
      base: { name, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // JSON lets these stand as they are; terminals do not.
      hooks: { streamWrite: (line) => line.replace(controls, escapeControl) },
      redact: { paths: secretPaths(), censor: "***" },
    },
    output,
  );
  const backend = (record: LogRecord): void => {
    const { time: _time, level: severity, ...fields } = withoutTokens(record);
    const message = `${fields.method} ${fields.status}`;
    if (severity === "ERROR") log.error(fields, message);
    else log.info(fields, message);
  };
  return {
    middleware: logger({ backend, ip: true }),
    started: (url) => log.info({ url }, "listening"),
    noted: (message) => log.info(message),
    warned: (message) => log.warn(message),
    failed: (error) => log.error({ err: error }, "failed"),
  };
}

const controls = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Members that hold secrets, wherever someone puts them into a record one day. */
function secretPaths(): string[] {
  const names = ["password", "passwordHash", "access_token", "token", "authorization", "cookie"];
  return names.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
}

function formatLine(record: LogRecord): string {
  return formatSpec(withoutTokens(record));
}

function withoutTokens(record: LogRecord): LogRecord {
  const { url, referer } = record;
  return {
    ...record,
    url: withoutResetToken(url),
    referer: referer === undefined ? undefined : withoutResetToken(referer),
  };
}
