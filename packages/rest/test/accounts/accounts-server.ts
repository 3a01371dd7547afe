// Serves accounts on the store of the URL in argv[2] until it is killed. Writes its address, then
// the tokens of its mails.
import { writeSync } from "node:fs";
import { openStore } from "@fetchwork/documents";
import { jobCollections } from "@fetchwork/documents/jobs";
import { serve } from "@fetchwork/http/serve";
import { accounts } from "../../src/accounts/accounts.ts";
import { defineUser } from "../../src/accounts/users/define-user.ts";
import { createApi } from "../../src/http/api.ts";

const [, , url = ""] = process.argv;
const user = defineUser();
const account = accounts({ user, signUp: "public", signIn: "public" });
const collections = [user.collection, ...account.collections, ...Object.values(jobCollections)];
const store = await openStore(url, { collections });
const opened = account.open(store, {
  masterKey: "m".repeat(32),
  jwtSecret: "j".repeat(32),
  title: "Test",
  origin: "http://localhost",
  mailer: {
    send: async ({ text, to }) => say({ to, token: /\/([\w-]{43})$/m.exec(text)?.[1] ?? "" }),
  },
});
opened.start();
const { authentication, routes } = opened;
const api = createApi({ title: "T", version: "1", store, authentication, routes });
const server = await serve(api.handler, { port: 0, hostname: "127.0.0.1" });
say({ address: server.url });

function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
