export { fromNodeListener, type NodeApplication } from "./from-node-listener.ts";
export { nodeMessages, writeEarlyHints, type NodeMessages } from "./node-messages.ts";
export type { NodeListener } from "./exchange-listener.ts";
export { serve, type CloseOptions, type RunningServer } from "./serve.ts";
export type { ServeOptions, TlsOptions, UpgradeListener } from "./serve-options.ts";
export { toNodeListener, type NodeListenerOptions } from "./to-node-listener.ts";
