import { createContext, text, wrap } from "@fetchwork/http";
import { realIp } from "@fetchwork/middleware";
import { describe, expect, it } from "vitest";
import { warnOfProxy } from "../../src/http/warn-of-proxy.ts";

describe("warnOfProxy", () => {
  it.each([
    ["127.0.0.1", [], 1],
    ["::ffff:127.0.0.1", [], 1],
    ["10.1.2.3", [], 1],
    ["fd00::1", [], 1],
    ["192.0.2.1", [], 0],
    ["127.0.0.1", ["127.0.0.1"], 0],
  ])("the log warns once of a proxy at %s, with %j trusted: %d", async (peer, trusted, count) => {
    const warnings: string[] = [];
    const warned = (message: string): void => void warnings.push(message);
    const handler = wrap(
      () => text("next"),
      realIp({ trustedProxies: trusted }),
      warnOfProxy(warned),
    );
    const send = async (headers: Record<string, string>): Promise<void> => {
      const request = new Request("http://localhost/ping", { headers });
      await handler(request, createContext(request, { peer }));
    };
    await send({});
    expect(warnings).toEqual([]);
    for (let i = 0; i < 3; i += 1) await send({ "x-forwarded-for": "198.51.100.7" });
    expect(warnings).toHaveLength(count);
    for (const warning of warnings) expect(warning).toContain("TRUSTED_PROXIES");
  });
});
