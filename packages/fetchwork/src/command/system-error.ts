import { getSystemErrorMessage } from "node:util";

const actions: ReadonlyMap<string, string> = new Map([
  ["connect", "cannot connect to "],
  ["getaddrinfo", "cannot connect to "],
  ["listen", "cannot listen on "],
  ["mkdir", "cannot create the folder "],
  ["open", "cannot open "],
  ["read", "cannot read "],
  ["scandir", "cannot read the folder "],
  ["write", "cannot write "],
]);

/** The message of an error; a system error in words: `cannot open a.txt: permission denied`. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall, path, hostname, address, port }: SystemError = error;
  if (!isText(syscall)) return error.message;
  const reason = systemReason(error);
  const [name, host] = [path, hostname ?? address].map((one) => (isText(one) ? one : undefined));
  if (syscall.startsWith("spawn")) return `cannot run ${name ?? "a program"}: ${reason}`;
  const place = name ?? (typeof port === "number" ? `${host ?? "port"}:${port}` : host);
  return place === undefined ? reason : `${actions.get(syscall) ?? ""}${place}: ${reason}`;
}

/** The reason of a system error without its path; the message of any other error. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, errno, syscall }: SystemError = error;
  if (!isText(code) || !isText(syscall)) return error.message;
  return typeof errno === "number" ? getSystemErrorMessage(errno) : code;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Error of the operating system, with the fields that Node adds. */
interface SystemError extends Error {
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly syscall?: unknown;
  readonly path?: unknown;
  readonly hostname?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
}
