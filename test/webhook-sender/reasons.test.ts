import { openStore } from "@fetchwork/documents";
import { type AttemptReport, createSender, type SenderOptions } from "@fetchwork/webhooks/sender";
import { expect, it, onTestFinished } from "vitest";
import { startReceiver } from "./receiver.ts";

/** Sends one event, and returns the report of its first attempt. */
async function firstReport(
  url: string,
  options: Partial<SenderOptions> = {},
): Promise<AttemptReport | undefined> {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  const reports: AttemptReport[] = [];
  const onAttempt = (report: AttemptReport): unknown => reports.push(report);
  const sender = createSender({
    store,
    allowHttp: true,
    allowPrivate: true,
    onAttempt,
    ...options,
  });
  onTestFinished(() => sender.stop({ grace: 0 }));
  await sender.endpoints.create({ url });
  sender.start();
  await sender.send({ name: "order", payload: {} });
  await expect.poll(() => reports.length, { timeout: 5_000 }).toBe(1);
  const [{ attempt } = {}] = (await sender.deliveries())[0]?.history.map((each) => ({
    attempt: each,
  })) ?? [{}];
  expect(reports[0]?.attempt).toEqual(attempt);
  return reports[0];
}

it.each([
  [500, "the endpoint responded with 500"],
  [404, "the endpoint responded with 404"],
  [307, "the endpoint redirects (307)"],
  [410, "the endpoint wants no more deliveries (410)"],
])(
  "a response with %i is kept with its beginning, as one line without controls",
  async (status, reason) => {
    await using receiver = await startReceiver((_, response) => {
      response
        .writeHead(status)
        .end(`\u001B[31mNo\r\n\u202E such  order\u0000${"x".repeat(20_000)}`);
    });
    const report = await firstReport(receiver.url);
    expect(report?.attempt).toMatchObject({ status, reason });
    const excerpt = report?.attempt?.excerpt ?? "";
    expect(excerpt).toMatch(/^\[31mNo such order x+$/);
    expect(excerpt).toHaveLength(500);
  },
);

it("a success has neither reason nor excerpt", async () => {
  await using receiver = await startReceiver();
  const report = await firstReport(receiver.url);
  expect(report?.attempt).toMatchObject({ status: 200, reason: undefined, excerpt: undefined });
});

it("a response that breaks keeps what arrived of it", async () => {
  await using receiver = await startReceiver((_, response) => {
    response.writeHead(500, { "content-length": "1000" }).write("half an answer");
    setTimeout(() => response.destroy(), 50);
  });
  const report = await firstReport(receiver.url);
  expect(report?.attempt).toMatchObject({ status: 500, excerpt: "half an answer" });
});

it("a failed delivery says that nothing listens", async () => {
  const report = await firstReport("http://127.0.0.1:1/");
  expect(report?.attempt).toMatchObject({
    error: "ERR_HTTP_CONNECTION",
    reason: "the endpoint refused the connection",
  });
});

it("a failed delivery says that a name is not known", async () => {
  const report = await firstReport("http://name.invalid/");
  expect(report?.attempt?.reason).toBe("the name of the endpoint cannot be resolved");
});

it("a failed delivery says that there was no response in time", async () => {
  await using receiver = await startReceiver(() => undefined);
  const report = await firstReport(receiver.url, { timeout: 200 });
  expect(report?.attempt).toMatchObject({
    error: "ERR_HTTP_TIMEOUT",
    reason: "the endpoint did not respond in time",
  });
});

it("a failed delivery says that the connection ended", async () => {
  await using receiver = await startReceiver((_, response) => response.destroy());
  const report = await firstReport(receiver.url);
  expect(report?.attempt?.reason).toBe("the endpoint ended the connection");
});

it("a failed delivery says that an address is not public, and not which one it is", async () => {
  await using receiver = await startReceiver();
  const url = receiver.url.replace("127.0.0.1", "localhost");
  const report = await firstReport(url, { allowPrivate: false });
  expect(report?.attempt).toMatchObject({
    error: "ERR_WEBHOOKS_TARGET",
    reason: "the endpoint has an address that is not public",
  });
  expect(receiver.arrived).toEqual([]);
});
