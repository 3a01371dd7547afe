/**
 * A process that calls an MCP server with a shared token: `node mcp-child.ts <url> <folder>
 * <ours|naive> <count>`.
 */
import { FileTokenStore } from "../../src/node/file-token-store.ts";
import { authorizationOf, callAtOnce, naiveProvider } from "./mcp-calls.ts";

const [url = "", folder = "", kind = "ours", count = "1"] = process.argv.slice(2);
const store = new FileTokenStore(folder, { leaseTime: 1000 });
console.warn = () => {};
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
const authorization =
  kind === "ours" ? authorizationOf(store) : { authProvider: naiveProvider(store) };
process.stdout.write(`${await callAtOnce(new URL(url), authorization, Number(count))}\n`);
process.exit(0);
