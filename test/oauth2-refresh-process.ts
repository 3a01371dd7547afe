/** A process that shares a token in documents with others: `oauth2-refresh-process.ts <origin> <url> <once|forever>`. */
import { defineCollection, openStore } from "@fetchwork/documents";
import {
  DocumentTokenStore,
  OAuth2Client,
  TokenManager,
  type TokenDocument,
} from "@fetchwork/oauth2";

const [origin = "", url = "", times = "once"] = process.argv.slice(2);
const tokens = defineCollection<TokenDocument>("tokens");
const documents = await openStore(url, { collections: [tokens] });
const store = new DocumentTokenStore(documents.collection(tokens), { leaseTime: 1000 });
const manager = new TokenManager(new OAuth2Client("id", "secret", { site: origin }), { store });
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
let token = await manager.getToken();
process.stdout.write(`${token.token}\n`);
while (times === "forever") token = await manager.getToken({ refused: token });
await documents.close();
process.exit(0);
