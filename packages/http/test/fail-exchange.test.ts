import { expect, it, vi } from "vitest";
import { serve } from "../src/node/index.ts";

const cyclic = new Error("round");
cyclic.cause = cyclic;
const longChain = Array.from({ length: 100_000 }).reduce<Error>(
  (cause) => new Error("link", { cause }),
  new Error("end"),
);
const opaque = new Proxy(new Error("x"), {
  get: () => {
    throw new Error("not to be looked at");
  },
  has: () => {
    throw new Error("not to be looked at");
  },
});

it.each<[string, unknown]>([
  ["an error that causes itself", cyclic],
  ["a chain of 100,000 causes", longChain],
  ["an error that throws when it is looked at", opaque],
  ["null", null],
])("answers 500 to %s, reports it and goes on", async (_case, error) => {
  const reportError = vi.fn();
  const handler = (): never => {
    throw error;
  };
  const options = { port: 0, hostname: "127.0.0.1", signals: false, reportError } as const;
  await using server = await serve(handler, options);
  for (let count = 1; count <= 2; count += 1) {
    expect((await fetch(server.url)).status).toBe(500);
    expect(reportError).toHaveBeenCalledTimes(count);
  }
});
