import { inspect } from "node:util";
import { errors } from "undici";
import { describe, expect, it } from "vitest";
import { ProxyFailure } from "../../src/node/client/tunnel-connector.ts";
import { isConnectionLoss, toTransportFailure } from "../../src/node/client/transport-failure.ts";
import { UploadFailure } from "../../src/node/client/upload-body.ts";
import { requestOf } from "./requests.ts";

const request = requestOf("http://user.example/a?token=hidden#part", {
  timeouts: { connect: 1, headers: 2, body: 3 },
});

function failureOf(error: unknown, phase: "waiting" | "head" | "body" = "waiting"): Error {
  return toTransportFailure(error, { request, phase, maxHeaderSize: 256 });
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code} 10.0.0.1:80`), { code });
}

describe("errors of undici", () => {
  it.each<[Error, object]>([
    [new errors.ConnectTimeoutError(), { phase: "connect", limit: 1 }],
    [new errors.HeadersTimeoutError(), { phase: "headers", limit: 2 }],
    [new errors.BodyTimeoutError(), { phase: "body", limit: 3 }],
    [new errors.HeadersOverflowError(), { code: "ERR_HTTP_TOO_LARGE", limit: 256 }],
    [new errors.ResponseContentLengthMismatchError(), { code: "ERR_HTTP_PROTOCOL" }],
    [new errors.RequestContentLengthMismatchError(), { code: "ERR_HTTP_HEADER" }],
    [new errors.InvalidArgumentError("invalid x header"), { code: "ERR_HTTP_HEADER" }],
    [new errors.NotSupportedError(), { code: "ERR_HTTP_HEADER" }],
    [new errors.ClientClosedError(), { code: "ERR_HTTP_CLIENT_CLOSED" }],
    [new errors.ClientDestroyedError(), { code: "ERR_HTTP_CLIENT_CLOSED" }],
    [new errors.SocketError("other side closed"), { reason: "reset" }],
    [new errors.SocketError("bad response"), { code: "ERR_HTTP_PROTOCOL" }],
    [new errors.InformationalError("stream closed"), { reason: "reset" }],
    [new errors.BalancedPoolMissingUpstreamError(), { reason: "other" }],
  ])("%s have an equal of ours, and are not its cause", (error, expected) => {
    const failure = failureOf(error);
    expect(failure).toMatchObject(expected);
    expect(failure.cause).toBeUndefined();
    expect(inspect(failure, { depth: 9 })).not.toMatch(/hidden|secret/);
  });

  it("of the parser lose what the server sent", () => {
    const parser = Object.assign(new Error("Response does not match (Expected HTTP/)"), {
      name: "HTTPParserError",
      data: "secret",
    });
    expect(failureOf(parser).message).toContain("not HTTP/1.1 (Expected HTTP/)");
    expect(inspect(failureOf(parser), { depth: 9 })).not.toContain("secret");
  });

  it("of a lost connection mean a truncated body within the body", () => {
    expect(failureOf(new errors.SocketError("closed"), "body")).toMatchObject({
      code: "ERR_HTTP_PROTOCOL",
    });
  });
});

describe("errors of the platform", () => {
  it.each([
    ["ECONNREFUSED", "refused"],
    ["ECONNRESET", "reset"],
    ["EPIPE", "reset"],
    ["ENOTFOUND", "dns"],
    ["EAI_AGAIN", "dns"],
    ["EHOSTUNREACH", "unreachable"],
    ["ENETUNREACH", "unreachable"],
    ["ETIMEDOUT", "unreachable"],
    ["CERT_HAS_EXPIRED", "tls"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "tls"],
    ["EMFILE", "other"],
  ])("%s is %s, and the cause", (code, reason) => {
    const error = systemError(code);
    expect(failureOf(error)).toMatchObject({ reason, systemCode: code, cause: error });
  });

  it("of several addresses have the code of the first", () => {
    const error = new AggregateError([systemError("ECONNREFUSED"), systemError("EPIPE")], "all");
    expect(failureOf(error)).toMatchObject({ reason: "refused", systemCode: "ECONNREFUSED" });
  });

  it.each([undefined, null, "text", new Error("unknown")])("%s is some failure", (thrown) => {
    expect(failureOf(thrown)).toMatchObject({ code: "ERR_HTTP_CONNECTION", reason: "other" });
  });
});

it("transportFailure reports a failed source with its cause, and the refusal of a proxy as one", () => {
  const cause = new Error("disk");
  expect(failureOf(new UploadFailure("the body's stream failed", { cause }))).toMatchObject({
    code: "ERR_HTTP_CONNECTION",
    reason: "other",
    message: expect.stringContaining("the body's stream failed") as string,
    cause,
  });
  expect(failureOf(new ProxyFailure("no", { code: "HTTP_403" }))).toMatchObject({
    reason: "proxy",
    systemCode: "HTTP_403",
  });
});

it("transportFailure leaves errors of ours as they are", () => {
  const first = failureOf(systemError("ECONNRESET"));
  expect(failureOf(first)).toBe(first);
});

it.each([
  [new errors.SocketError("other side closed"), true],
  [new errors.SocketError("closed"), true],
  [systemError("ECONNRESET"), true],
  [systemError("EPIPE"), true],
  [new errors.SocketError("bad response"), false],
  [new errors.HeadersTimeoutError(), false],
  [systemError("ECONNREFUSED"), false],
])("isConnectionLoss(%s) is %s", (error, lost) => {
  expect(isConnectionLoss(error)).toBe(lost);
});
