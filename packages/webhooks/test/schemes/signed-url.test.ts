import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  createLambdaHandler,
  createNodeMiddleware,
  createWebMiddleware,
  signRequest,
  simulate,
  type Vendor,
  Webhooks,
} from "../../src/index.ts";
import { hmacScheme, square, svix, twilio } from "../../src/vendors/index.ts";

const log = { warn: () => undefined, error: () => undefined };
const form = "application/x-www-form-urlencoded";
const bodyHash = "0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620";
const fields =
  "Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE";
const repeated = "Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234";

interface Signed {
  readonly vendor: Vendor;
  readonly secret: string;
  readonly url: string;
  readonly type: string;
  readonly body: string;
  readonly signature: string;
}

/** The examples of Twilio's documentation and of the tests of its libraries. */
const call: Signed = {
  vendor: twilio,
  secret: "12345",
  url: "https://mycompany.com/myapp.php?foo=1&bar=2",
  type: form,
  body: fields,
  signature: "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
};
const json: Signed = {
  ...call,
  url: `https://mycompany.com/myapp.php?foo=1&bar=2&bodySHA256=${bodyHash}`,
  type: "application/json",
  body: '{"property": "value", "boolean": true}',
  signature: "a9nBmqA0ju/hNViExpshrM61xv4=",
};
/** The example of Square's documentation. */
const notification: Signed = {
  vendor: square,
  secret: "asdf1234",
  url: "https://example.com/webhook",
  type: "application/json",
  body: '{"hello":"world"}',
  signature: "2kRE5qRU2tR+tBGlDwMEw2avJ7QM4ikPYD/PJ3bd9Og=",
};

async function isVerified(given: Signed): Promise<boolean> {
  const { vendor, secret, url, type, body, signature } = given;
  const headers = { "content-type": type, [vendor.scheme.signatureHeader]: signature };
  return new Webhooks({ secret, vendor, log }).verify(body, headers, url);
}

describe("signatures of the URL", () => {
  it.each<readonly [string, Signed]>([
    ["another URL", { ...call, url: call.url.replace("mycompany", "yourcompany") }],
    ["another path", { ...call, url: call.url.replace("myapp", "yourapp") }],
    ["another query", { ...call, url: call.url.replace("bar=2", "bar=3") }],
    ["http instead of https", { ...call, url: call.url.replace("https", "http") }],
    ["a path instead of a URL", { ...call, url: "/myapp.php?foo=1&bar=2" }],
    ["a changed field", { ...call, body: fields.replace("1234&", "1235&") }],
    ["a field more", { ...call, body: `${fields}&A=b` }],
    ["a field less", { ...call, body: fields.replace("Digits=1234&", "") }],
    ["a second value of a field", { ...call, body: `${fields}&Digits=1` }],
    ["another key", { ...call, secret: "12346" }],
    ["a form that is not declared as one", { ...call, type: "application/json" }],
    ["a body without its hash in the URL", { ...json, url: call.url, signature: call.signature }],
    ["another body than the hash in the URL", { ...json, body: `${json.body} ` }],
    ["another hash in the URL", { ...json, url: json.url.replace("0a1f", "0a1e") }],
    ["a form larger than Twilio sends", { ...call, body: `${fields}&${"A=b&".repeat(65_536)}` }],
    ["no signature in base64", { ...call, signature: "RSOYDt4T1cUTdK1PDd93/VVr8B8" }],
    ["another URL of Square", { ...notification, url: "https://example.com/webhook/" }],
    ["another body of Square", { ...notification, body: '{"hello":"World"}' }],
    ["another key of Square", { ...notification, secret: "asdf12345" }],
    ["an empty URL of Square", { ...notification, url: "" }],
  ])("do not verify %s", async (_, given) => {
    expect(await isVerified(given)).toBe(false);
  });

  it.each<readonly [string, Signed]>([
    ["a form", call],
    [
      "a form with a port that is not signed",
      { ...call, url: call.url.replace(".com", ".com:1234") },
    ],
    ["a form with the port that is signed", { ...call, signature: "kvajT1Ptam85bY51eRf/AJRuM3w=" }],
    ["several values", { ...call, body: repeated, signature: "IK+Dwps556ElfBT0I3Rgjkr1wJU=" }],
    ["JSON", json],
    [
      "JSON with no other parameter",
      {
        ...json,
        url: `https://mycompany.com/myapp.php?bodySHA256=${bodyHash}`,
        signature: "y77kIzt2vzLz71DgmJGsen2scGs=",
      },
    ],
    ["a notification of Square", notification],
  ])("verify %s", async (_, given) => {
    expect(await isVerified(given)).toBe(true);
  });

  it("are never verified without a URL", async () => {
    for (const { vendor, secret, body, signature } of [call, notification]) {
      expect(await new Webhooks({ secret, vendor, log }).verify(body, signature)).toBe(false);
      await expect(new Webhooks({ secret, vendor, log }).sign(body)).rejects.toThrow(/url/i);
    }
  });

  it("sign() makes the signatures that the documentation has", async () => {
    for (const { vendor, secret, url, body, signature } of [call, json, notification]) {
      expect(await new Webhooks({ secret, vendor, log }).sign(body, { url })).toBe(signature);
    }
  });
});

describe("a receiver of a vendor that signs the URL", () => {
  const webhooks = new Webhooks({ secret: call.secret, vendor: twilio, log });

  it.each([
    undefined,
    "",
    "/hooks",
    "ftp://a.example/",
    "https://a.example/?b=c",
    "https://a b/",
    5,
  ])("refuses the option url %j", (url) => {
    for (const make of [createWebMiddleware, createNodeMiddleware, createLambdaHandler]) {
      expect(() => make(webhooks, { url: url as string })).toThrow(
        expect.objectContaining({
          code: "ERR_WEBHOOKS_OPTION",
          message: expect.stringMatching(/^url must be the public URL .*Twilio.*, got /),
        }),
      );
    }
  });

  it("verifies the public URL with the query of the request, whatever host was asked", async () => {
    const receive = createWebMiddleware(webhooks, {
      path: "/behind/proxy",
      url: "https://mycompany.com/myapp.php",
    });
    const statusOf = async (url: string): Promise<number> => {
      const headers = { "content-type": form, "x-twilio-signature": call.signature };
      return (await receive(new Request(url, { method: "POST", headers, body: fields }))).status;
    };
    expect(await statusOf("http://10.0.0.1/behind/proxy?foo=1&bar=3")).toBe(400);
    expect(await statusOf("http://10.0.0.1/behind/proxy")).toBe(400);
    expect(await statusOf("http://10.0.0.1/behind/proxy?foo=1&bar=2")).toBe(200);
  });

  it("verifies over Node's http, and responds with TwiML that sends nothing", async () => {
    const seen = vi.fn();
    const own = new Webhooks({ secret: call.secret, vendor: twilio, log });
    own.on("message.received", ({ id, payload }) => void seen(id, payload["Body"]));
    const url = "https://example.com/sms";
    const receive = createNodeMiddleware(own, { path: "/sms", url });
    const server = createServer((request, response) => void receive(request, response));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const request = await signRequest({
      vendor: twilio,
      secret: call.secret,
      name: "message",
      payload: { MessageSid: "SM1", SmsStatus: "received", Body: "Grüße & ?" },
      url: `${url}?a=1`,
    });
    const { method, headers } = request;
    const body = await request.text();
    const response = await fetch(`http://127.0.0.1:${port}/sms?a=1`, { method, headers, body });
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "text/xml",
      "<Response/>",
    ]);
    expect(seen.mock.calls).toEqual([["SM1", "Grüße & ?"]]);
  });

  it("reads deliveries with their public URL", async () => {
    const headers = { "content-type": form, "x-twilio-signature": call.signature };
    const delivery = { payload: fields, headers };
    expect(await webhooks.verifyAndParse({ ...delivery, url: call.url })).toMatchObject({
      id: "CA1234567890ABCDE",
      name: "call",
      payload: { Digits: "1234" },
    });
    const request = new Request(call.url, { method: "POST", headers, body: fields });
    expect(await webhooks.verifyAndParse(request)).toMatchObject({ name: "call" });
    await expect(webhooks.verifyAndParse(delivery)).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_SIGNATURE",
    });
  });
});

describe("the vendors", () => {
  it.each<readonly [Vendor, string, object, object]>([
    [twilio, "call", { CallSid: "CA1", CallStatus: "ringing" }, { id: "CA1", name: "call" }],
    [twilio, "onMessageAdded", { EventType: "onMessageAdded" }, { name: "onMessageAdded" }],
    [
      square,
      "payment.updated",
      { type: "payment.updated", event_id: "e1" },
      { id: "e1", name: "payment.updated" },
    ],
    [svix, "invoice.paid", { data: {} }, { id: "d1", name: "invoice.paid" }],
  ])("%j delivers %s", async (vendor, name, payload, expected) => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const webhooks = new Webhooks({ secret, vendor, log });
    const seen = vi.fn();
    webhooks.onAny((event) => void seen(event));
    expect((await simulate(webhooks, name, payload, { id: "d1" })).status).toBe(200);
    expect(seen.mock.calls).toMatchObject([[expected]]);
  });

  it("hmacScheme() signs the URL when it is asked to", async () => {
    const key = hmacScheme({ signsUrl: true }).createKey("s");
    const url = "https://example.com/";
    const signed = await key.sign({ id: "", timestamp: 0, body: "b", url });
    const whole = await hmacScheme()
      .createKey("s")
      .sign({ id: "", timestamp: 0, body: `${url}b` });
    expect(signed).toEqual(whole);
  });
});
