export { FileTokenStore } from "./file-token-store.ts";
export { openKeychainTokenStore, type KeychainTokenStoreOptions } from "./keychain-token-store.ts";
export type { LeaseOptions } from "../store/lease.ts";
