import { randomBytes } from "node:crypto";
import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { createApp } from "./app.ts";

const port = Number(process.env["PORT"] ?? 9100);
const origin = `http://localhost:${port}`;
const secret = (): string => randomBytes(32).toString("base64url");

const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = process.env;
const store = await openStore("sqlite::memory:");
const { accounts, api } = createApp({
  store,
  origin,
  providers: clientId === undefined ? [] : [{ name: "github", clientId, clientSecret }],
  // With each start all sessions end, and all users are gone.
  masterKey: secret(),
  jwtSecret: secret(),
  mailer: {
    send({ to, subject, text }) {
      console.log(`\n${to}: ${subject}\n${text}`);
      return Promise.resolve();
    },
  },
});
accounts.start();
const server = await serve(api.handler, { port });
console.log(`${origin}/page\nMails are printed here.`);
await server.finished;
await accounts.stop();
await store.close();
