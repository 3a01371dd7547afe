export { FileTokenStore, type FileTokenStoreOptions } from "./file-token-store.ts";
export { nodeTransport } from "./node-transport.ts";
