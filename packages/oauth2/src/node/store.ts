export { FileTokenStore, type FileTokenStoreOptions } from "./file-token-store.ts";
export { openKeychainTokenStore, type KeychainTokenStoreOptions } from "./keychain-token-store.ts";
