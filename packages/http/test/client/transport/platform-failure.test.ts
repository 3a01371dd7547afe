import { inspect } from "node:util";
import { Client, fetchTransport, TransportError } from "@fetchwork/http";
import { describe, expect, it } from "vitest";

const baseUrl = "http://user:hunter2@api.test/x?token=hunter2";

/** The error of a client whose `fetch` fails with this. */
async function failureOf(thrown: unknown): Promise<Error | undefined> {
  const transport = fetchTransport(() => {
    const { promise, reject } = Promise.withResolvers<Response>();
    reject(thrown);
    return promise;
  });
  return (await new Client({ transport }).trySend({ baseUrl })).error;
}

function coded(code: string): Error {
  return Object.assign(new Error("platform"), { code });
}

/** As `fetch` of Node throws them. */
function failed(code: string): Error {
  return new TypeError("fetch failed", { cause: coded(code) });
}

describe("a failure of fetch", () => {
  it.each([
    ["ECONNREFUSED", "refused"],
    ["ECONNRESET", "reset"],
    ["EPIPE", "reset"],
    ["UND_ERR_SOCKET", "reset"],
    ["ENOTFOUND", "dns"],
    ["EAI_AGAIN", "dns"],
    ["CERT_HAS_EXPIRED", "tls"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "tls"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "tls"],
    ["EHOSTUNREACH", "unreachable"],
    ["ENETDOWN", "unreachable"],
    ["EWHATEVER", "other"],
  ])("with %s is a connection that is: %s", async (code, reason) => {
    for (const thrown of [coded(code), failed(code), new AggregateError([coded(code)], "all")]) {
      expect(await failureOf(thrown)).toMatchObject({
        name: "ConnectionError",
        code: "ERR_HTTP_CONNECTION",
        reason,
        systemCode: code,
      });
    }
  });

  it.each([
    ["UND_ERR_CONNECT_TIMEOUT", { name: "TimeoutError", phase: "connect" }],
    ["ETIMEDOUT", { name: "TimeoutError", phase: "connect" }],
    ["UND_ERR_HEADERS_TIMEOUT", { name: "TimeoutError", phase: "headers" }],
    ["UND_ERR_BODY_TIMEOUT", { name: "TimeoutError", phase: "body" }],
    ["UND_ERR_HEADERS_OVERFLOW", { name: "TooLargeError" }],
    ["HPE_INVALID_CONSTANT", { name: "ProtocolError" }],
    ["Z_DATA_ERROR", { name: "ProtocolError" }],
    ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", { name: "ProtocolError" }],
  ])("with %s is %o", async (code, expected) => {
    expect(await failureOf(failed(code))).toMatchObject(expected);
  });

  it.each([new TypeError("Failed to fetch"), "text", null, undefined, { code: 1 }])(
    "without a code (%o) is a connection's as well",
    async (thrown) => {
      const error = await failureOf(thrown);
      expect(error).toBeInstanceOf(TransportError);
      expect(error).toMatchObject({ reason: "other", systemCode: undefined });
    },
  );

  it("whose causes are a circle ends", async () => {
    const error = new Error("loop");
    error.cause = error;
    expect(await failureOf(error)).toMatchObject({ reason: "other" });
  });

  it("shows no secret of the request", async () => {
    expect(inspect(await failureOf(failed("ECONNREFUSED")), { depth: 10 })).not.toContain(
      "hunter2",
    );
  });
});
