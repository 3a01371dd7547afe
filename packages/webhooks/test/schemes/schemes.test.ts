import { createHmac } from "node:crypto";
import { sign as octokitSign, verify as octokitVerify } from "@octokit/webhooks-methods";
import fc from "fast-check";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { SignatureScheme } from "../../src/index.ts";
import { sign, verify, verifyWithFallback } from "../../src/signature/index.ts";
import {
  fetchwork,
  github,
  gitlab,
  hmacScheme,
  shopify,
  slack,
  slackScheme,
  standardScheme,
  standardWebhooks,
  stripe,
  stripeScheme,
  tokenScheme,
  type Vendor,
} from "../../src/vendors/index.ts";
import { Webhooks } from "../../src/index.ts";

afterEach(() => vi.useRealTimers());

const encoder = new TextEncoder();
const now = (): number => Math.floor(Date.now() / 1000);
const whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const body = '{"type":"invoice.paid","emoji":"😀","id":"evt_1"}';
const bytes = encoder.encode(body);

const schemes: readonly (readonly [string, SignatureScheme, string])[] = [
  ["SHA-256 in hex", hmacScheme(), "s"],
  ["SHA-1 in hex", hmacScheme({ header: "X-Hub-Signature", hash: "SHA-1" }), "s"],
  ["SHA-512 in base64", hmacScheme({ header: "X-Sig", hash: "SHA-512", encoding: "base64" }), "s"],
  ["Shopify", shopify.scheme, "s"],
  ["Standard Webhooks", standardScheme(), whsec],
  ["Stripe", stripeScheme(), "whsec_x"],
  ["Slack", slackScheme(), "s"],
];

describe.each(schemes)("%s", (_, scheme, secret) => {
  const key = scheme.createKey(secret);
  const message = fc.record({ id: fc.uuid(), body: fc.uint8Array({ maxLength: 200 }) });

  it("A scheme verifies any bytes that it signed", async () => {
    await fc.assert(
      fc.asyncProperty(message, async (sent) => {
        const headers = new Headers(await key.sign({ ...sent, timestamp: now() }));
        expect(scheme.checkHeaders(headers)).toBeUndefined();
        expect(scheme.requiredHeaders.filter((name) => !headers.has(name))).toEqual([]);
        expect(await key.verify({ headers, body: sent.body })).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("A scheme refuses every changed bit, every truncation and every addition", async () => {
    await fc.assert(
      fc.asyncProperty(message, fc.nat(), fc.nat(7), async (sent, at, bit) => {
        const headers = new Headers(await key.sign({ ...sent, timestamp: now() }));
        const changed = Uint8Array.from(sent.body);
        if (changed.length > 0)
          changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ (1 << bit);
        const candidates = [
          Uint8Array.from([...sent.body, at & 255]),
          Uint8Array.from([0, ...sent.body]),
        ];
        if (changed.length > 0)
          candidates.push(changed, sent.body.slice(1), sent.body.slice(0, -1));
        for (const other of candidates) {
          expect(await key.verify({ headers, body: other })).toBe(false);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("A scheme refuses every changed character of the signature", async () => {
    const sent = { id: "msg_1", timestamp: now(), body: bytes };
    const right = await key.sign(sent);
    const signature = right[scheme.signatureHeader] ?? "";
    for (let index = 0; index < signature.length; index += 1) {
      for (const other of ["", "A", "b", "0", "=", " "]) {
        if (signature[index] === other) continue;
        const wrong = signature.slice(0, index) + other + signature.slice(index + 1);
        const headers = {
          get: (name: string) => ({ ...right, [scheme.signatureHeader]: wrong })[name] ?? null,
        };
        expect([wrong, await key.verify({ headers, body: bytes })]).toEqual([wrong, false]);
      }
    }
  });

  it("A scheme refuses signatures by another secret, and arbitrary text", async () => {
    const other = secret.startsWith("whsec_M") ? `whsec_${btoa("another secret")}` : "other";
    const headers = new Headers(
      await scheme.createKey(other).sign({ id: "1", timestamp: now(), body: bytes }),
    );
    expect(await key.verify({ headers, body: bytes })).toBe(false);
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        const any = { get: () => text };
        scheme.checkHeaders(any);
        expect(await key.verify({ headers: any, body: bytes })).toBe(false);
      }),
    );
  });

  it("Fingerprints are safe keys of a store, and differ by secret", async () => {
    const fingerprint = await key.fingerprint("id:", "msg_1");
    expect(fingerprint).toMatch(/^[\w-]{20,128}$/);
    expect(await key.fingerprint("id:", encoder.encode("msg_1"))).toBe(fingerprint);
    expect(await key.fingerprint("id:", "msg_2")).not.toBe(fingerprint);
    expect(await key.fingerprint("body:", "msg_1")).not.toBe(fingerprint);
    const other = whsec.replace("whsec_M", "whsec_N");
    expect(await scheme.createKey(other).fingerprint("id:", "msg_1")).not.toBe(fingerprint);
  });

  it.each(["", undefined, 5])("A scheme refuses the secret %j", (given) => {
    expect(() => scheme.createKey(given as string)).toThrow();
  });
});

describe.each(schemes.filter(([, scheme]) => /Standard|Stripe|Slack/.test(scheme.name)))(
  "the timestamp of %s",
  (_, scheme, secret) => {
    const key = scheme.createKey(secret);

    it.each([-301, 302, 1e6, -1e6])(
      "A timestamp is refused when it is %i s from now",
      async (offset) => {
        const sent = { id: "1", timestamp: now() + offset, body: bytes };
        const headers = new Headers(await key.sign(sent));
        expect(scheme.checkHeaders(headers)).toBe("timestamp");
        expect(await key.verify({ headers, body: bytes })).toBe(false);
      },
    );

    it.each([-298, 0, 298])("A timestamp is accepted when it is %i s from now", async (offset) => {
      const sent = { id: "1", timestamp: now() + offset, body: bytes };
      const headers = new Headers(await key.sign(sent));
      expect(await key.verify({ headers, body: bytes })).toBe(true);
    });
  },
);

describe("other makes", () => {
  it("@octokit/webhooks-methods verifies our signatures, and we verify its signatures", async () => {
    expect(await sign("secret", body)).toBe(await octokitSign("secret", body));
    expect(await octokitVerify("secret", body, await sign("secret", body))).toBe(true);
    expect(await verify("secret", body, await octokitSign("secret", body))).toBe(true);
  });

  it.each([
    ["standardwebhooks", new StandardWebhook(whsec), standardScheme()],
    ["svix", new SvixWebhook(whsec), standardScheme()],
    [
      "svix with its own headers",
      new SvixWebhook(whsec),
      standardScheme({ headerPrefix: "svix-" }),
    ],
  ])("%s verifies our signatures, and we verify its signatures", async (_, peer, scheme) => {
    const key = scheme.createKey(whsec);
    const timestamp = now();
    const headers = await key.sign({ id: "msg_1", timestamp, body: bytes });
    expect(() => peer.verify(body, { ...headers })).not.toThrow();
    expect(() => peer.verify(`${body} `, { ...headers })).toThrow();
    const signature = peer.sign("msg_1", new Date(timestamp * 1000), body);
    const theirs = new Headers({ ...headers, [scheme.signatureHeader]: signature });
    expect(await key.verify({ headers: theirs, body: bytes })).toBe(true);
  });

  it("stripe verifies our signatures, and we verify its signatures", async () => {
    const scheme = stripeScheme();
    const key = scheme.createKey("whsec_test");
    const headers = await key.sign({ id: "", timestamp: now(), body: bytes });
    const peer = new Stripe("sk_test_x").webhooks;
    const header = headers["stripe-signature"] ?? "";
    expect(peer.constructEvent(body, header, "whsec_test")).toMatchObject({ id: "evt_1" });
    const theirs = peer.generateTestHeaderString({ payload: body, secret: "whsec_test" });
    expect(
      await key.verify({ headers: new Headers({ "stripe-signature": theirs }), body: bytes }),
    ).toBe(true);
  });

  it("slackScheme() verifies the example of Slack's documentation", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_531_420_618_000 });
    const scheme = slackScheme();
    const sent =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = new Headers({
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    });
    const key = scheme.createKey("8f742231b10e8888abcd99yyyzzz85a5");
    expect(await key.verify({ headers, body: encoder.encode(sent) })).toBe(true);
  });
});

describe("Standard Webhooks", () => {
  const scheme = standardScheme();

  it("standardScheme() accepts a valid one of several signatures, but not of too many", async () => {
    const key = scheme.createKey(whsec);
    const right = await key.sign({ id: "1", timestamp: now(), body: bytes });
    const wrong = `v1,${"A".repeat(43)}=`;
    const signature = `${wrong} v2,x v1a,y ${right["webhook-signature"]}`;
    const headers = new Headers({ ...right, "webhook-signature": signature });
    expect(await key.verify({ headers, body: bytes })).toBe(true);
    headers.set("webhook-signature", `${`${wrong} `.repeat(16)}${right["webhook-signature"]}`);
    expect(await key.verify({ headers, body: bytes })).toBe(false);
  });

  it("standardScheme() never accepts a signature of another version", async () => {
    const sent = { id: "1", timestamp: now(), body: bytes };
    const right = await scheme.createKey(whsec).sign(sent);
    const signature = right["webhook-signature"]?.replace("v1,", "v1a,") ?? "";
    const headers = new Headers({ ...right, "webhook-signature": signature });
    expect(await scheme.createKey(whsec).verify({ headers, body: bytes })).toBe(false);
  });

  it.each(["whsec_", "whsec_***", "not base64!", "whsk_AAAA", "whpk_AAAA"])(
    "standardScheme() refuses the secret %s, without showing it",
    (secret) => {
      expect(() => scheme.createKey(secret)).toThrow(
        expect.objectContaining({
          code: "ERR_WEBHOOKS_SECRET",
          message: expect.not.stringContaining("***"),
        }),
      );
    },
  );

  it("standardScheme() refuses to sign an ambiguous identifier", async () => {
    const key = scheme.createKey(whsec);
    await expect(key.sign({ id: "a.b", timestamp: now(), body: bytes })).rejects.toThrow(
      /full stop/,
    );
    await expect(key.sign({ id: "a\r\nb", timestamp: now(), body: bytes })).rejects.toThrow();
  });

  it("standardScheme() returns the signed identifier", async () => {
    const key = scheme.createKey(whsec);
    const headers = new Headers(await key.sign({ id: "1", timestamp: now(), body: bytes }));
    expect(scheme.signedId?.(headers)).toBe("1");
  });

  it("standardScheme() accepts base64 secrets without padding, as standardwebhooks does", async () => {
    const short = `whsec_${Buffer.alloc(32, 7).toString("base64").replaceAll("=", "")}`;
    const body = '{"type":"a"}';
    const signed = await scheme.createKey(short).sign({ id: "1", timestamp: now(), body });
    expect(() => new StandardWebhook(short).verify(body, signed)).not.toThrow();
    expect(await scheme.createKey(short).verify({ headers: new Headers(signed), body })).toBe(true);
  });

  it("standardScheme() reads a secret without prefix as text with secrets: text only", async () => {
    const text = "a secret of the test";
    expect(() => scheme.createKey(text)).toThrow("whsec_");
    const own = standardScheme({ secrets: "text" });
    expect(() => own.createKey("whpk_AAAA")).toThrow("whsec_");
    const message = { id: "1", timestamp: now(), body: bytes };
    const digest = createHmac("sha256", text).update(`1.${message.timestamp}.`).update(bytes);
    expect((await own.createKey(text).sign(message))["webhook-signature"]).toBe(
      `v1,${digest.digest("base64")}`,
    );
    // What other implementations can read means the same everywhere.
    expect(await own.createKey(whsec).sign(message)).toEqual(
      await scheme.createKey(whsec).sign(message),
    );
    expect(() => standardScheme({ secrets: "hex" as "text" })).toThrow("secrets");
  });
});

describe("Stripe", () => {
  it.each([
    ["two timestamps, the first signed", (t: number, v: string) => `t=${t},t=${t - 9},v1=${v}`],
    ["two timestamps, the last signed", (t: number, v: string) => `t=${t - 9},t=${t},v1=${v}`],
    ["more than 1024 characters", (t: number, v: string) => `t=${t},v1=${v},${"x".repeat(950)}`],
    ["no timestamp", (_: number, v: string) => `v1=${v}`],
    ["another version", (t: number, v: string) => `t=${t},v0=${v}`],
    [
      "nine signatures",
      (t: number, v: string) => `t=${t},${`v1=${"0".repeat(64)},`.repeat(8)}v1=${v}`,
    ],
  ])("stripeScheme() refuses %s", async (_, write) => {
    const key = stripeScheme().createKey("s");
    const sent = { id: "", timestamp: now(), body: bytes };
    const digest = /v1=(.*)/.exec((await key.sign(sent))["stripe-signature"] ?? "")?.[1] ?? "";
    const headers = new Headers({ "stripe-signature": write(sent.timestamp, digest) });
    expect(await key.verify({ headers, body: bytes })).toBe(false);
  });
});

describe("a scheme with timestamps", () => {
  it.each([{ tolerance: -1 }, { tolerance: Number.NaN }, { tolerance: "5" }])(
    "refuses %j",
    (options) => {
      for (const make of [stripeScheme, slackScheme, standardScheme]) {
        expect(() => make(options as object)).toThrow(
          expect.objectContaining({ code: "ERR_WEBHOOKS_OPTION" }),
        );
      }
    },
  );
});

describe("a token", () => {
  const scheme = tokenScheme({ header: "X-Gitlab-Token" });

  it("tokenScheme() verifies the token and refuses others", async () => {
    const key = scheme.createKey("token");
    for (const [given, is] of [
      ["token", true],
      ["tokem", false],
      ["token1", false],
      ["", false],
    ] as const) {
      expect(
        await key.verify({ headers: new Headers({ "x-gitlab-token": given }), body: bytes }),
      ).toBe(is);
    }
  });

  it("tokenScheme() refuses a token with characters that headers do not allow", () => {
    expect(() => scheme.createKey("a\nb")).toThrow(
      expect.objectContaining({ code: "ERR_WEBHOOKS_SECRET" }),
    );
  });
});

describe("the static functions", () => {
  it("verifyWithFallback() verifies with the first secret or an additional one", async () => {
    const signature = await sign("b", body);
    expect(await verifyWithFallback("a", body, signature, ["c", "b"])).toBe(true);
    expect(await verifyWithFallback("a", body, signature, ["c"])).toBe(false);
    expect(await verifyWithFallback("b", body, signature)).toBe(true);
    await expect(verifyWithFallback("a", body, signature, [""])).rejects.toThrow(TypeError);
  });

  it.each([
    [undefined, body, "x"],
    ["", body, "x"],
    ["s", undefined, "x"],
    ["s", "", "x"],
    ["s", { a: 1 }, "x"],
    ["s", body, undefined],
    ["s", body, ""],
    ["s", body, 5],
  ])(
    "sign() and verify() reject %j, %j, %j with a TypeError",
    async (secret, payload, signature) => {
      await expect(
        verify(secret as string, payload as string, signature as string),
      ).rejects.toThrow(TypeError);
    },
  );

  it("sign() and verify() accept bytes of any length, zero included", async () => {
    for (const length of [0, 1, 63, 64, 65, 100_000]) {
      const sent = new Uint8Array(length).fill(0xff);
      expect(await verify("s", sent, await sign("s", sent))).toBe(true);
    }
  });
});

describe("vendors", () => {
  const log = { warn: () => undefined, error: () => undefined };
  it.each<
    readonly [
      string,
      Vendor<never> | Vendor,
      string,
      string,
      Record<string, string>,
      object,
      string[],
    ]
  >([
    [
      "github",
      github,
      "s",
      '{"action":"opened"}',
      { "X-GitHub-Event": "issues", "X-GitHub-Delivery": "7" },
      { id: "7", name: "issues" },
      ["issues.opened", "issues"],
    ],
    [
      "fetchwork",
      fetchwork,
      "s",
      '{"action":"paid"}',
      { "webhook-event": "order" },
      { id: "msg_1", name: "order" },
      ["order.paid", "order"],
    ],
    [
      "standardWebhooks",
      standardWebhooks,
      whsec,
      '{"type":"invoice.paid","data":{}}',
      {},
      { id: "msg_1", name: "invoice.paid" },
      ["invoice.paid"],
    ],
    [
      "stripe",
      stripe,
      "s",
      '{"id":"evt_1","type":"invoice.paid"}',
      {},
      { id: "evt_1", name: "invoice.paid" },
      ["invoice.paid"],
    ],
    [
      "slack",
      slack,
      "s",
      '{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention"}}',
      {},
      { id: "Ev1", name: "app_mention" },
      ["app_mention"],
    ],
    [
      "shopify",
      shopify,
      "s",
      '{"id":1}',
      { "X-Shopify-Topic": "orders/create", "X-Shopify-Webhook-Id": "w1" },
      { id: "w1", name: "orders/create" },
      ["orders/create"],
    ],
    [
      "gitlab",
      gitlab,
      "s",
      '{"object_kind":"merge_request","object_attributes":{"action":"open"}}',
      { "X-Gitlab-Event": "Merge Request Hook", "X-Gitlab-Event-UUID": "u1" },
      { id: "u1", name: "merge_request" },
      ["merge_request.open", "merge_request"],
    ],
  ])("%s reads identifier, name and action of a delivery", async (...row) => {
    const [, vendor, secret, payload, headers, names, called] = row;
    const webhooks = new Webhooks({
      secret,
      vendor: vendor as Vendor<Record<string, object>>,
      log,
    });
    const calls: string[] = [];
    for (const name of called) webhooks.on(name, () => calls.push(name));
    const key = vendor.scheme.createKey(secret);
    const signed = await key.sign({ id: "msg_1", timestamp: now(), body: encoder.encode(payload) });
    const delivery = { payload, headers: { ...headers, ...signed } };
    expect(await webhooks.verifyAndParse(delivery)).toMatchObject(names);
    await webhooks.verifyAndReceive(delivery);
    expect(calls).toEqual(called);
  });
});
