import { wrap } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { expect, it, onTestFinished, vi } from "vitest";
import { ABORT_HANDLER, recoverer } from "../src/index.ts";

it("ABORT_HANDLER cuts the connection under serve, and is reported to nobody", async () => {
  const reportError = vi.fn();
  const log = vi.fn();
  const handler = wrap(() => Promise.reject(ABORT_HANDLER), recoverer({ log }));
  const options = { port: 0, hostname: "127.0.0.1", signals: false, reportError };
  const server = await serve(handler, options);
  onTestFinished(() => server.close());
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
  expect(reportError).not.toHaveBeenCalled();
  expect(log).not.toHaveBeenCalled();
});
