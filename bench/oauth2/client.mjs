// One library in a separate process: `fork("client.mjs", [origin, table, name])`. Told to, it
// sends requests, and says how much CPU time each took, in microseconds.
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { ClientCredentials } from "simple-oauth2";
import {
  AccessToken,
  authorizedFetch,
  OAuth2Client,
  TokenManager,
} from "../../packages/oauth2/dist/index.js";

const [origin, table, name] = process.argv.slice(2);
const requests = 2000;
const concurrency = 16;
const basic = `Basic ${btoa("id:secret")}`;

// Deprecated to make it stand out; the server is on this machine.
/* oxlint-disable typescript/no-deprecated */
const as = { issuer: origin, token_endpoint: `${origin}/token` };
const insecure = { [oauth.allowInsecureRequests]: true };
const configuration = new openid.Configuration(as, "id", {}, openid.ClientSecretBasic("secret"));
openid.allowInsecureRequests(configuration);
/* oxlint-enable typescript/no-deprecated */
const simple = new ClientCredentials({
  client: { id: "id", secret: "secret" },
  auth: { tokenHost: origin, tokenPath: "/token" },
});
const simpleInTime = new ClientCredentials({
  client: { id: "id", secret: "secret" },
  auth: { tokenHost: origin, tokenPath: "/token" },
  http: { timeout: 30_000 },
});
const ours = new OAuth2Client("id", "secret", { site: origin, tokenUrl: "/token" });
const endless = new OAuth2Client("id", "secret", {
  site: origin,
  tokenUrl: "/token",
  connectionOpts: { timeout: 0 },
});

const tokenRequests = {
  "@fetchwork/oauth2": async () => (await ours.clientCredentials.getToken({ scope: "read" })).token,
  "@fetchwork/oauth2, timeout: 0": async () =>
    (await endless.clientCredentials.getToken({ scope: "read" })).token,
  oauth4webapi: () => askOauth4webapi(insecure),
  "oauth4webapi, 30 s": () => askOauth4webapi({ ...insecure, signal: AbortSignal.timeout(30_000) }),
  "openid-client": async () =>
    (await openid.clientCredentialsGrant(configuration, { scope: "read" })).access_token,
  "simple-oauth2": async () => (await simple.getToken({ scope: "read" })).token.access_token,
  "simple-oauth2, 30 s": async () =>
    (await simpleInTime.getToken({ scope: "read" })).token.access_token,
  "bare fetch": () => bareFetch({}),
  "bare fetch, 30 s": () => bareFetch({ signal: AbortSignal.timeout(30_000) }),
};

async function askOauth4webapi(options) {
  const client = { client_id: "id" };
  const response = await oauth.clientCredentialsGrantRequest(
    as,
    client,
    oauth.ClientSecretBasic("secret"),
    new URLSearchParams({ scope: "read" }),
    options,
  );
  return (await oauth.processClientCredentialsResponse(as, client, response)).access_token;
}

async function bareFetch(options) {
  const response = await fetch(`${origin}/token`, {
    method: "POST",
    headers: { authorization: basic, "content-type": "application/x-www-form-urlencoded" },
    body: "grant_type=client_credentials&scope=read",
    ...options,
  });
  return (await response.json()).access_token;
}

const value = "2YotnFZFEjr1zCsicMWpAA";
const token = AccessToken.fromHash(ours, {
  access_token: value,
  expires_at: Date.now() / 1000 + 36_000,
});
const manager = new TokenManager(ours);
await manager.set(token);
const api = authorizedFetch(manager);
const target = new URL(`${origin}/resource`);
const authorizedRequests = {
  "@fetchwork/oauth2, authorizedFetch": async () => (await (await api("/resource")).json()).id,
  "@fetchwork/oauth2, token.get": async () => (await token.get("/resource")).hash.id,
  oauth4webapi: async () => {
    const response = await oauth.protectedResourceRequest(
      value,
      "GET",
      target,
      undefined,
      undefined,
      insecure,
    );
    return (await response.json()).id;
  },
  "openid-client": async () => {
    const response = await openid.fetchProtectedResource(configuration, value, target, "GET");
    return (await response.json()).id;
  },
  "bare fetch": async () => {
    const response = await fetch(target.href, { headers: { authorization: `Bearer ${value}` } });
    return (await response.json()).id;
  },
};

async function measure(work, expected) {
  let left = requests;
  const before = process.cpuUsage();
  const run = async () => {
    while (left > 0) {
      left -= 1;
      if ((await work()) !== expected) throw new Error("a wrong answer");
    }
  };
  await Promise.all(Array.from({ length: concurrency }, run));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

const work = { tokenRequests, authorizedRequests }[table][name];
const expected = table === "tokenRequests" ? value : 1;
process.on("message", () => {
  void measure(work, expected).then((time) => process.send(time));
});
process.on("disconnect", () => process.exit());
