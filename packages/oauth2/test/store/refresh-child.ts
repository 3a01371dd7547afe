/**
 * A process that shares a token with others: `node refresh-child.ts <origin> <folder>
 * <once|forever>`.
 */
import { OAuth2Client, TokenManager } from "../../src/index.ts";
import { FileTokenStore } from "../../src/node/file-token-store.ts";

const [origin = "", folder = "", times = "once"] = process.argv.slice(2);
const client = new OAuth2Client("id", "secret", { site: origin });
const manager = new TokenManager(client, { store: new FileTokenStore(folder) });
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
let token = await manager.getToken();
process.stdout.write(`${token.token}\n`);
while (times === "forever") token = await manager.getToken({ refused: token });
process.exit(0);
