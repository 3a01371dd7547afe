import { openStore, type Store } from "@fetchwork/documents";
import { Webhooks } from "@fetchwork/webhooks";
import {
  createSender,
  type Sender,
  senderCollections,
  type SenderOptions,
} from "@fetchwork/webhooks/sender";
import { fetchwork, github, stripe, type Vendor } from "@fetchwork/webhooks/vendors";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type Arrived, type Receiver, startReceiver } from "./receiver.ts";

const oldKey = "the key of last year, 32 characters";
const newKey = "the key of this year, 32 characters";

let store: Store;
let receiver: Receiver;

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
});

function open(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({ store, allowHttp: true, allowPrivate: true, ...options });
  onTestFinished(() => sender.stop({ grace: 0 }));
  return sender;
}

/** Sends an event, and returns it as it arrived. */
async function delivered(sender: Sender): Promise<Arrived> {
  const count = receiver.arrived.length;
  await sender.send({ name: "order", payload: { total: 1 } });
  await receiver.until(count + 1);
  const [last] = receiver.arrived.slice(-1);
  if (last === undefined) throw new Error("nothing has arrived");
  return last;
}

function verifies({ headers, body }: Arrived, secret: string, vendor: Vendor = fetchwork): unknown {
  return new Webhooks({ vendor, secret }).verify(body, headers);
}

const stored = async (): Promise<string> =>
  JSON.stringify(await store.collection(senderCollections.endpoints).find());

describe("sealWith", () => {
  it.each(["short", "", [], ["x".repeat(31)], 5, null])("%j is refused or seals nothing", (key) => {
    const make = (): Sender => open({ sealWith: key as never });
    if (Array.isArray(key) && key.length === 0) make();
    else expect(make).toThrow(expect.objectContaining({ code: "ERR_WEBHOOKS_OPTION" }));
  });

  it("keeps secrets and headers out of the store, and an older key still opens them", async () => {
    const first = open({ sealWith: oldKey });
    const headers = { Authorization: "Bearer hidden-token" };
    const { id, secret } = await first.endpoints.create({ url: receiver.url, headers });
    expect(await stored()).not.toContain(secret);
    expect(await stored()).not.toContain("hidden-token");
    expect(JSON.stringify(await first.endpoints.get(id))).not.toContain("hidden-token");
    expect(await first.endpoints.get(id)).toMatchObject({ headerNames: ["authorization"] });
    const second = open({ sealWith: [newKey, oldKey] });
    second.start();
    const arrived = await delivered(second);
    expect(await verifies(arrived, secret)).toBe(true);
    expect(arrived.headers.authorization).toBe("Bearer hidden-token");
    await second.endpoints.update(id, { secret: "another secret" });
    await second.stop({ grace: 0 });
    const third = open({ sealWith: newKey });
    third.start();
    expect(await verifies(await delivered(third), "another secret")).toBe(true);
  });

  it("seals what was stored in plain text with the next change of the endpoint", async () => {
    const { id, secret } = await open().endpoints.create({ url: receiver.url });
    expect(await stored()).toContain(secret);
    const sender = open({ sealWith: newKey });
    await sender.endpoints.update(id, { headers: { "x-a": "b" } });
    expect(await stored()).not.toContain(secret);
    sender.start();
    expect(await verifies(await delivered(sender), secret)).toBe(true);
  });

  it("an endpoint whose secret no key opens gets nothing, and its delivery says why", async () => {
    const { id } = await open({ sealWith: oldKey }).endpoints.create({ url: receiver.url });
    const reports: unknown[] = [];
    const sender = open({ sealWith: newKey, onAttempt: (report) => reports.push(report) });
    await expect(sender.endpoints.update(id, { secret: "s" })).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_SECRET",
    });
    sender.start();
    await sender.send({ name: "order", payload: {} });
    await expect.poll(() => reports.length).toBe(1);
    const reason = "the secret of the endpoint cannot be read";
    expect(reports).toMatchObject([{ outcome: "retry", attempt: { reason } }]);
    expect(receiver.arrived).toEqual([]);
  });

  it("a secret that is copied to the endpoint of another tenant does not open there", async () => {
    const sender = open({ sealWith: newKey });
    const { id } = await sender.endpoints.create({ url: receiver.url });
    const other = await sender.endpoints.create({ url: receiver.url, tenant: "other" });
    const documents = store.collection(senderCollections.endpoints);
    const { secrets = "" } = (await documents.get(id)) ?? {};
    await documents.update(other.id, { secrets });
    await expect(sender.endpoints.rotateSecret(other.id)).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_SECRET",
    });
  });
});

describe("rotateSecret()", () => {
  it.each([fetchwork, stripe])(
    "deliveries carry the signatures of both secrets until the overlap ends: $name",
    async (vendor) => {
      const sender = open({ vendor, sealWith: newKey });
      const { id, secret } = await sender.endpoints.create({ url: receiver.url });
      const rotated = await sender.endpoints.rotateSecret(id, { overlap: 60_000 });
      expect(rotated?.secret).not.toBe(secret);
      expect(Date.parse(rotated?.previousSecretUntil ?? "")).toBeGreaterThan(Date.now());
      expect(await sender.endpoints.get(id)).not.toHaveProperty("secret");
      sender.start();
      const arrived = await delivered(sender);
      expect(await verifies(arrived, secret, vendor)).toBe(true);
      expect(await verifies(arrived, rotated?.secret ?? "", vendor)).toBe(true);
      const last = await sender.endpoints.rotateSecret(id, { overlap: 0, secret: "chosen" });
      expect(last).toMatchObject({ secret: "chosen", previousSecretUntil: undefined });
      const after = await delivered(sender);
      expect(await verifies(after, "chosen", vendor)).toBe(true);
      expect(await verifies(after, rotated?.secret ?? "", vendor)).toBe(false);
    },
  );

  it.each([fetchwork, stripe])(
    "each old secret signs until its overlap ends when there is another rotation: $name",
    async (vendor) => {
      const sender = open({ vendor, sealWith: newKey });
      const { id, secret } = await sender.endpoints.create({ url: receiver.url });
      const lost = await sender.endpoints.rotateSecret(id);
      const rotated = await sender.endpoints.rotateSecret(id);
      sender.start();
      const arrived = await delivered(sender);
      for (const each of [secret, lost?.secret ?? "", rotated?.secret ?? ""]) {
        expect(await verifies(arrived, each, vendor)).toBe(true);
      }
      for (let more = 0; more < 9; more += 1) await sender.endpoints.rotateSecret(id);
      const last = await sender.endpoints.rotateSecret(id);
      const after = await delivered(sender);
      expect(await verifies(after, last?.secret ?? "", vendor)).toBe(true);
      expect(await verifies(after, secret, vendor)).toBe(false);
    },
  );

  it("an overlap that is over ends the old secret", async () => {
    const sender = open();
    const { id, secret } = await sender.endpoints.create({ url: receiver.url });
    const rotated = await sender.endpoints.rotateSecret(id, { overlap: 1 });
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
    sender.start();
    const arrived = await delivered(sender);
    expect(await verifies(arrived, secret)).toBe(false);
    expect(await verifies(arrived, rotated?.secret ?? "")).toBe(true);
  });

  it("refuses what a scheme cannot do, and options that are invalid", async () => {
    const sender = open({ vendor: github });
    const { id, version } = await sender.endpoints.create({ url: receiver.url });
    const { endpoints } = sender;
    for (const options of [{}, { overlap: -1 }, { overlap: 31 * 86_400_000 }, { overlaps: 1 }]) {
      await expect(endpoints.rotateSecret(id, options)).rejects.toMatchObject({
        code: "ERR_WEBHOOKS_OPTION",
      });
    }
    await expect(
      endpoints.rotateSecret(id, { overlap: 0, ifVersion: version + 1 }),
    ).rejects.toMatchObject({ code: "ERR_DOCUMENTS_VERSION" });
    expect(await endpoints.rotateSecret("none", { overlap: 0 })).toBeUndefined();
    expect(await endpoints.rotateSecret(id, { overlap: 0 })).toMatchObject({ id });
  });
});

describe("headers of an endpoint", () => {
  it.each<Record<string, unknown>>([
    {},
    { host: "a" },
    { "Content-Type": "text/html" },
    { "content-length": "1" },
    { "transfer-encoding": "chunked" },
    { connection: "close" },
    { "user-agent": "a" },
    { "webhook-id": "a" },
    { "Webhook-Signature": "a" },
    { "webhook-event": "a" },
    { "x-a": "b\r\nx-c: d" },
    { "x-a\r\nx-b": "c" },
    { "x-a": "é" },
    { "x-a": "" },
    { "x-a": " b" },
    { "x-a": "b".repeat(1_025) },
    { "x-a": 5 },
    { "x-a": "b", "X-A": "c" },
    Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, "a"])),
  ])("refuses %j", async (headers) => {
    const { endpoints } = open();
    const given = { url: receiver.url, headers: headers as Record<string, string> };
    const problem = { code: "ERR_WEBHOOKS_OPTION" };
    await expect(endpoints.create(given)).rejects.toMatchObject(problem);
    const { id } = await endpoints.create({ url: receiver.url });
    await expect(endpoints.update(id, { headers: given.headers })).rejects.toMatchObject(problem);
  });

  it("a refusal does not tell the values", async () => {
    const headers = { "x-key": "hidden-value", host: "a" };
    const refused = open().endpoints.create({ url: receiver.url, headers });
    await expect(refused).rejects.toThrow(/x-key/);
    await expect(refused).rejects.not.toThrow(/hidden-value/);
  });

  it("go with every delivery, stay with a new secret, and null removes them", async () => {
    const sender = open();
    const { id } = await sender.endpoints.create({
      url: receiver.url,
      headers: { "X-Key": "one two" },
    });
    sender.start();
    expect((await delivered(sender)).headers["x-key"]).toBe("one two");
    await sender.endpoints.rotateSecret(id);
    expect((await delivered(sender)).headers["x-key"]).toBe("one two");
    expect(await sender.endpoints.update(id, { headers: null })).toMatchObject({
      headerNames: undefined,
    });
    expect((await delivered(sender)).headers).not.toHaveProperty("x-key");
  });
});
