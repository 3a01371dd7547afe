import type { Transport } from "@fetchwork/http";

/** Makes a transport that is loaded when something is sent, because a process that only stores events needs none. */
export function lazyTransport(load: () => Promise<Transport>): Transport {
  let loading: Promise<Transport> | undefined;
  const loaded = (): Promise<Transport> => (loading ??= load());
  return {
    exchange: async (request) => (await loaded()).exchange(request),
    stream: async (request) => (await loaded()).stream(request),
    close: async () => (await loading)?.close(),
  };
}
