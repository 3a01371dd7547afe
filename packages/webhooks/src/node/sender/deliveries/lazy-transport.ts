import type { Transport } from "@fetchwork/http";

/** Makes a transport that is loaded at the first use: a process that only stores needs none. */
export function lazyTransport(load: () => Promise<Transport>): Transport {
  let loading: Promise<Transport> | undefined;
  const loaded = (): Promise<Transport> => (loading ??= load());
  return {
    exchange: async (request) => (await loaded()).exchange(request),
    stream: async (request) => (await loaded()).stream(request),
    close: async () => (await loading)?.close(),
  };
}
