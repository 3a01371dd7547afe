import { getSystemErrorMessage } from "node:util";

/** What the errors mean that a user of the command can meet; any other one is described by the system. */
const meanings: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission denied"],
  ["EADDRINUSE", "the port is in use"],
  ["EADDRNOTAVAIL", "the address is not one of this machine"],
  ["ECONNREFUSED", "the connection was refused"],
  ["ECONNRESET", "the connection was closed by the other side"],
  ["EEXIST", "it already exists"],
  ["EISDIR", "it is a folder"],
  ["ENOENT", "no such file or folder"],
  ["ENOSPC", "the disk is full"],
  ["ENOTDIR", "a part of the path is not a folder"],
  ["ENOTEMPTY", "it is not empty"],
  ["ENOTFOUND", "the host is unknown"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
]);

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

/** The message of an error; one of the operating system in words: `cannot open notes.txt: no such file or folder`. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall, path, hostname, address, port } = error as SystemError;
  if (typeof syscall !== "string") return error.message;
  const reason = systemReason(error);
  if (syscall.startsWith("spawn")) return `cannot run ${path ?? "a program"}: ${reason}`;
  const host = [hostname, address].find((each) => typeof each === "string");
  const place = path ?? (port === undefined ? host : `${host ?? "port"}:${String(port)}`);
  return place === undefined ? reason : `${actions.get(syscall) ?? ""}${place}: ${reason}`;
}

/** Why the operating system refused something, without what it was; any other error's message. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, errno, syscall } = error as SystemError;
  if (typeof code !== "string" || typeof syscall !== "string") return error.message;
  return meanings.get(code) ?? (errno === undefined ? code : getSystemErrorMessage(errno));
}

interface SystemError extends NodeJS.ErrnoException {
  readonly hostname?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
}
