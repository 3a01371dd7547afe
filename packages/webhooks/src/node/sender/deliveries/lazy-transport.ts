import type { Transport } from "@fetchwork/http";
import type { UndiciTransportOptions } from "@fetchwork/http/undici";

/** Makes a transport that is loaded at the first use: a process that only stores needs none. */
export function lazyTransport(options: UndiciTransportOptions = {}): Transport {
  let loading: Promise<Transport> | undefined;
  const load = async (): Promise<Transport> => {
    const { undiciTransport } = await import("@fetchwork/http/undici");
    return undiciTransport(options);
  };
  return {
    exchange: async (request) => (await (loading ??= load())).exchange(request),
    stream: async (request) => (await (loading ??= load())).stream(request),
    close: async () => (await loading)?.close(),
  };
}
