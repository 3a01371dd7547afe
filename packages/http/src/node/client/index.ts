export type { TlsOptions } from "./tls-options.ts";
export { undiciTransport } from "./undici-transport.ts";
export type { ProxyOptions, UndiciTransportOptions } from "./undici-transport-options.ts";
