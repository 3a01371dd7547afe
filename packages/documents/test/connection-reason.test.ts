import { DatabaseError } from "pg";
import { describe, expect, it } from "vitest";
import { connectionReason } from "../src/engines/postgres/connections/connection-reason.ts";
import { connectionError } from "../src/engines/postgres/connections/postgres-error.ts";

function refusal(code: string): DatabaseError {
  return Object.assign(new DatabaseError('for user "secret"', 0, "error"), { code });
}

function failure(code: string): Error {
  return Object.assign(new Error("connect secret:5432"), { code });
}

describe("The reason why there is no connection", () => {
  it.each([
    ["28P01", "the role or its password is wrong"],
    ["28000", "pg_hba.conf"],
    ["3D000", "the database does not exist"],
    ["42501", "the role may not connect to the database"],
    ["53300", "all of its connections are taken"],
    ["57P03", "it is starting up or shutting down"],
    ["XX000", "SQLSTATE XX000"],
  ])("is told by the SQLSTATE %s", (code, text) => {
    expect(connectionReason(refusal(code))).toContain(text);
    expect(connectionReason(refusal(code))).toContain(code);
  });

  it.each([
    ["ECONNREFUSED", "nothing listens at the host and port"],
    ["ENOTFOUND", "the name of the host is unknown"],
    ["EAI_AGAIN", "the name of the host is unknown"],
    ["ENOENT", "the folder has no socket of it"],
    ["EACCES", "EACCES"],
    ["ETIMEDOUT", "the host does not answer"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "its certificate is not trusted"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is not trusted"],
  ])("is told by the code %s of the socket", (code, text) => {
    expect(connectionReason(failure(code))).toContain(text);
    expect(connectionReason(failure(code))).toContain(code);
  });

  it("tells of a standby, a server without TLS, and one that does not answer", () => {
    const standby = new Error("the server is a standby, or its transactions are read-only");
    expect(connectionReason(standby)).toContain("standby");
    expect(connectionReason(new Error("The server does not support SSL connections"))).toContain(
      '"sslmode"',
    );
    const late = new Error("Connection terminated due to connection timeout");
    expect(connectionReason(late)).toContain("within the time");
  });

  it("is unknown for everything else, whose message is not shown", () => {
    expect(connectionReason(new Error("secret"))).toBeUndefined();
    expect(connectionReason(failure("not a code: secret"))).toBeUndefined();
    expect(connectionReason("secret")).toBeUndefined();
  });

  it("stands in the message, without what the driver says", () => {
    const { message } = connectionError(refusal("28P01"), "PostgreSQL refused the connection");
    expect(message).toMatch(/^PostgreSQL refused the connection: .*28P01/);
    expect(message).not.toContain("secret");
    expect(connectionError(new Error("secret"), "Refused").message).toBe("Refused");
  });
});
