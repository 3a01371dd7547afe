export { fromNodeListener, type NodeApplication } from "./application/from-node-listener.ts";
export { nodeMessages, writeEarlyHints, type NodeMessages } from "./exchange/node-messages.ts";
export type { NodeListener } from "./server/request-listener.ts";
export { serve, type RunningServer } from "./server/serve.ts";
export type { ServeOptions, TlsOptions, UpgradeListener } from "./server/serve-options.ts";
export { stopOnSignals } from "./server/stop-on-signals.ts";
export { toNodeListener, type NodeListenerOptions } from "./server/to-node-listener.ts";
