/**
 * A process that stores a token under its identifier: `node keychain-child.ts <folder> <service>`.
 */
import { openKeychainTokenStore } from "../../src/node/store.ts";

const [folder = "", service = ""] = process.argv.slice(2);
const store = await openKeychainTokenStore(folder, { service });
await store.set(String(process.pid), { access_token: "x".repeat(5000), pid: process.pid });
console.log(process.pid);
