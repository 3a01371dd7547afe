import { openStore } from "@fetchwork/documents";
import { createSender } from "@fetchwork/webhooks/sender";
import { expect, it } from "vitest";
import { startReceiver } from "./receiver.ts";

it("a burst of 3,000 events of one tenant delays those of another by at most 200 ms", async () => {
  await using loud = await startReceiver();
  await using quiet = await startReceiver();
  await using store = await openStore("sqlite::memory:");
  await using sender = createSender({ store, allowHttp: true, allowPrivate: true });
  await sender.endpoints.create({ url: loud.url, tenant: "loud" });
  await sender.endpoints.create({ url: quiet.url, tenant: "quiet" });
  sender.start();
  const deliver = async (): Promise<number> => {
    const begun = performance.now();
    const arrived = quiet.arrived.length;
    await sender.send({ name: "order", payload: {}, tenant: "quiet" });
    await quiet.until(arrived + 1);
    return performance.now() - begun;
  };
  const alone = await medianOf(20, deliver);
  const burst = Array.from({ length: 3_000 }, () =>
    sender.send({ name: "order", payload: {}, tenant: "loud" }),
  );
  const during = await medianOf(20, deliver);
  await Promise.all(burst);
  const after = await medianOf(20, deliver);
  // The burst takes seconds: had it gone first, each of these would have waited for its end.
  expect(loud.arrived.length).toBeLessThan(3_000);
  await sender.stop({ grace: 0 });
  // On an idle machine alone is a few milliseconds.
  expect(during).toBeLessThan(4 * alone + 200);
  expect(after).toBeLessThan(4 * alone + 200);
});

async function medianOf(count: number, measure: () => Promise<number>): Promise<number> {
  const measured: number[] = [];
  for (let index = 0; index < count; index += 1) measured.push(await measure());
  return measured.toSorted((left, right) => left - right)[count / 2] ?? Infinity;
}
