/**
 * A process that shares a token in documents with others: `oauth2-refresh-process.ts <origin> <url>
 * <once|forever>`.
 */
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
const client = new OAuth2Client("id", "secret", { site: origin });
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
let token = await new TokenManager(client, { store }).getToken();
process.stdout.write(`${token.token}\n`);
// One manager would wait after a token that was refused as soon as it was requested.
while (times === "forever") {
  token = await new TokenManager(client, { store }).getToken({ refused: token });
}
await documents.close();
process.exit(0);
