import { createContext, text, wrap, type Handler } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { headers, secAllHeaders, secure, type SecureOptions } from "../../src/index.ts";

type Fields = Record<string, string>;
const year = "max-age=31536000; includeSubDomains";
const defaults = {
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "strict-origin-when-cross-origin",
  "x-xss-protection": "1; mode=block",
};

async function headersOf(
  options: SecureOptions | undefined,
  request = new Request("http://localhost/"),
  handler: Handler = () => new Response(null),
  peer?: string,
): Promise<Fields> {
  const response = await wrap(handler, secure(options))(request, createContext(request, { peer }));
  return Object.fromEntries(response.headers);
}

describe("secure refuses", () => {
  it.each<[string, unknown]>([
    ["unknown frame options", { frameOptions: "ALLOW-FROM https://a.com" }],
    ["a policy with a line break", { contentSecurityPolicy: "a\nb" }],
    ["a referrer policy that is not text", { referrerPolicy: 7 }],
    ["nosniff of 1", { contentTypeNosniff: 1 }],
    ["a negative maxAge", { hsts: { maxAge: -1 } }],
    ["an endless maxAge", { hsts: { maxAge: Infinity } }],
    ["hsts of true", { hsts: true }],
    ["a proxy that is not an address", { trustedProxies: ["10."] }],
  ])("%s", (_case, options) => {
    expect(() => secure(options as SecureOptions)).toThrow(
      expect.objectContaining({ name: "MiddlewareError", code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });
});

it("secure and headers send what helmet sends, with the options of the README", async () => {
  const likeHelmet = [
    secure({
      ...secAllHeaders(),
      crossOriginOpenerPolicy: "same-origin",
      crossOriginResourcePolicy: "same-origin",
      referrerPolicy: "no-referrer",
      xssProtection: "0",
    }),
    headers({
      "origin-agent-cluster": "?1",
      "x-dns-prefetch-control": "off",
      "x-download-options": "noopen",
      "x-permitted-cross-domain-policies": "none",
    }),
  ];
  const request = new Request("https://localhost/");
  const handler = wrap(() => new Response(null), ...likeHelmet);
  const response = await handler(request, createContext(request));
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-security-policy": expect.stringContaining("default-src 'self'"),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "origin-agent-cluster": "?1",
    "referrer-policy": "no-referrer",
    "strict-transport-security": year,
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "x-download-options": "noopen",
    "x-frame-options": "DENY",
    "x-permitted-cross-domain-policies": "none",
    "x-xss-protection": "0",
  });
});

describe("A13: secure sends", () => {
  it.each<[string, SecureOptions | undefined, Fields]>([
    ["the default headers", undefined, defaults],
    [
      "SAMEORIGIN",
      { frameOptions: "SAMEORIGIN" },
      { ...defaults, "x-frame-options": "SAMEORIGIN" },
    ],
    [
      "nothing for what is empty",
      { frameOptions: "", contentTypeNosniff: false, referrerPolicy: "", xssProtection: "" },
      {},
    ],
    [
      "another referrer policy",
      { referrerPolicy: "no-referrer" },
      { ...defaults, "referrer-policy": "no-referrer" },
    ],
    ["another XSS protection", { xssProtection: "0" }, { ...defaults, "x-xss-protection": "0" }],
    [
      "the policies",
      { contentSecurityPolicy: "default-src 'none'", permissionsPolicy: "usb=()" },
      {
        ...defaults,
        "content-security-policy": "default-src 'none'",
        "permissions-policy": "usb=()",
      },
    ],
    [
      "the cross-origin policies",
      {
        crossOriginOpenerPolicy: "same-origin",
        crossOriginResourcePolicy: "same-site",
        crossOriginEmbedderPolicy: "require-corp",
      },
      {
        ...defaults,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-site",
        "cross-origin-embedder-policy": "require-corp",
      },
    ],
    [
      "all headers",
      secAllHeaders(),
      {
        ...defaults,
        "content-security-policy":
          "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; form-action 'self'; frame-ancestors 'none'",
        "permissions-policy": "geolocation=(), microphone=(), camera=()",
      },
    ],
    [
      "what comes after all headers",
      { ...secAllHeaders(), contentSecurityPolicy: "", permissionsPolicy: "usb=()" },
      { ...defaults, "permissions-policy": "usb=()" },
    ],
  ])("%s", async (_case, options, expected) => {
    expect(await headersOf(options)).toEqual(expected);
  });

  it.each<[string, SecureOptions, string | undefined]>([
    ["a year with subdomains", {}, year],
    [
      "a day with preload",
      { hsts: { maxAge: 86_400, includeSubdomains: false, preload: true } },
      "max-age=86400; preload",
    ],
    ["all three", { hsts: { maxAge: 1, preload: true } }, "max-age=1; includeSubDomains; preload"],
    ["nothing for a maxAge of 0", { hsts: { maxAge: 0 } }, undefined],
    ["nothing", { hsts: false }, undefined],
  ])("over HTTPS %s", async (_case, options, expected) => {
    const headers = await headersOf(options, new Request("https://localhost/"));
    expect(headers["strict-transport-security"]).toBe(expected);
    expect(await headersOf(options)).not.toHaveProperty("strict-transport-security");
  });

  it.each<[string, Fields, boolean]>([
    ["nothing", {}, false],
    ["proto https", { "x-forwarded-proto": "https" }, true],
    ["proto in capitals", { "x-forwarded-proto": "HTTPS" }, true],
    ["proto with spaces", { "x-forwarded-proto": "  https " }, true],
    ["proto http", { "x-forwarded-proto": "http" }, false],
    ["an empty proto", { "x-forwarded-proto": "" }, false],
    ["a list of protos", { "x-forwarded-proto": "https,http" }, false],
    ["a longer proto", { "x-forwarded-proto": "httpsx" }, false],
    ["Forwarded", { forwarded: "proto=https" }, true],
    ["Forwarded among others", { forwarded: "for=192.0.2.1;proto=https;by=10.0.0.1" }, true],
    ["Forwarded in capitals", { forwarded: "For=192.0.2.1; Proto=HTTPS" }, true],
    ["Forwarded with spaces", { forwarded: "for=192.0.2.1 ;  proto=https" }, true],
    [
      "Forwarded of the second proxy",
      { forwarded: "for=192.0.2.1;proto=http, for=10.0.0.1;proto=https" },
      true,
    ],
    ["Forwarded http", { forwarded: "for=192.0.2.1;proto=http" }, false],
    ["Forwarded without proto", { forwarded: "for=192.0.2.1" }, false],
    ["Forwarded with a longer proto", { forwarded: "proto=httpsx" }, false],
    ["Forwarded with another name", { forwarded: "xproto=https" }, false],
    // Go does not know quotes here; RFC 7239, 4 has them for every value.
    ["Forwarded in quotes", { forwarded: 'for="[2001:db8::1]:80";proto="https"' }, true],
    ["proto inside a quoted value", { forwarded: 'for="a;proto=https"' }, false],
    ["a broken Forwarded", { forwarded: 'proto=https;for="' }, false],
  ])("HSTS: %s", async (_case, sent, isHttps) => {
    const headers = await headersOf({}, new Request("http://localhost/", { headers: sent }));
    expect(headers["strict-transport-security"]).toBe(isHttps ? year : undefined);
  });

  it("believes only proxies that are trusted, if some are named", async () => {
    const options = { trustedProxies: ["10.0.0.0/8"] };
    for (const [peer, expected] of [
      ["10.1.2.3", year],
      ["10.1.2.3:4711", year],
      ["[::ffff:10.1.2.3]:4711", year],
      ["192.0.2.1", undefined],
      ["192.0.2.1:10", undefined],
      [undefined, undefined],
    ] as const) {
      const request = new Request("http://localhost/", {
        headers: { "x-forwarded-proto": "https" },
      });
      const headers = await headersOf(options, request, undefined, peer);
      expect(headers["strict-transport-security"]).toBe(expected);
    }
  });
});

it("secure lets the handler decide otherwise, and changes immutable headers", async () => {
  const handler: Handler = async () => text("x", { headers: { "x-frame-options": "SAMEORIGIN" } });
  expect((await headersOf({}, undefined, handler))["x-frame-options"]).toBe("SAMEORIGIN");
  const redirect: Handler = () => Response.redirect("http://localhost/x");
  expect((await headersOf({}, undefined, redirect))["x-frame-options"]).toBe("DENY");
});

it("secure makes a policy for each response, unless there is one", async () => {
  const options: SecureOptions = {
    contentSecurityPolicy: (_request, { requestId }) =>
      requestId ? `script-src 'nonce-${requestId}'` : "",
  };
  const handler: Handler = (_request, context) => {
    context.requestId = "n1";
    return text("x");
  };
  expect((await headersOf(options, undefined, handler))["content-security-policy"]).toBe(
    "script-src 'nonce-n1'",
  );
  expect(await headersOf(options)).not.toHaveProperty("content-security-policy");
});
