import { DatabaseError } from "pg";

const byCode: ReadonlyMap<unknown, string> = new Map([
  ["28P01", "the role or its password is wrong"],
  ["28000", "the role is unknown, or pg_hba.conf does not let it in"],
  ["3D000", "the database does not exist"],
  ["42501", "the role may not connect to the database"],
  ["53300", "all of its connections are taken"],
  ["57P03", "it is starting up or shutting down"],
  ["ECONNREFUSED", "nothing listens at the host and port"],
  ["ENOTFOUND", "the name of the host is unknown"],
  ["EAI_AGAIN", "the name of the host is unknown"],
  ["ENOENT", "the folder has no socket of it"],
  ["ETIMEDOUT", "the host does not answer"],
  ["EHOSTUNREACH", "the host does not answer"],
  ["ENETUNREACH", "the host does not answer"],
]);

const noTls = "The server does not support SSL connections";

// Messages without a code: of `pg` 8, and of ours.
const byMessage: ReadonlyMap<string, string> = new Map([
  [
    "the server is a standby, or its transactions are read-only",
    "the server is a standby, or its transactions are read-only",
  ],
  [noTls, 'it has no TLS, which "sslmode" asks for'],
  ["Connection terminated due to connection timeout", "no answer within the time to connect"],
  ["timeout expired", "no answer within the time to connect"],
]);

const certificateCode = /^(?:CERT_|DEPTH_ZERO|ERR_TLS_CERT|SELF_SIGNED|UNABLE_TO_)[A-Z_]*$/;

/**
 * Says why there is no connection, in separate words: the driver's message names the host and the
 * role. With a malformed URL these have a part of the password.
 */
export function connectionReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, "code");
  if (typeof code !== "string" || !/^\w+$/.test(code)) return byMessage.get(error.message);
  const shown = error instanceof DatabaseError ? `SQLSTATE ${code}` : code;
  const text = byCode.get(code);
  if (text !== undefined) return `${text} (${shown})`;
  return certificateCode.test(code) ? `its certificate is not trusted (${shown})` : shown;
}

/** Tells whether TLS with the server is impossible as it was asked for, now and a minute later. */
export function isTlsMismatch(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, "code");
  return error.message === noTls || (typeof code === "string" && certificateCode.test(code));
}
