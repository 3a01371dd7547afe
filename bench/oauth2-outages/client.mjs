// One library in a process of its own: `fork("client.mjs", [origin, name, milliseconds])`. It asks for a token 1,000 times a
// second for so long, waits for all of them, and sends how many failed and the longest wait.
import * as openid from "openid-client";
import { ClientCredentials } from "simple-oauth2";
import { OAuth2Client, TokenManager } from "../../packages/oauth2/dist/index.js";

const [origin, name, milliseconds] = process.argv.slice(2);

// Deprecated to make it stand out; the server is on this machine.
/* oxlint-disable typescript/no-deprecated */
const as = { issuer: origin, token_endpoint: `${origin}/token` };
const configuration = new openid.Configuration(as, "id", {}, openid.ClientSecretBasic("secret"));
openid.allowInsecureRequests(configuration);
/* oxlint-enable typescript/no-deprecated */
const simple = new ClientCredentials({
  client: { id: "id", secret: "secret" },
  auth: { tokenHost: origin, tokenPath: "/token" },
});

async function askOpenid() {
  const token = await openid.clientCredentialsGrant(configuration);
  const end = performance.now() + (token.expires_in ?? 0) * 1000;
  return { isExpired: () => performance.now() >= end };
}

async function askSimple() {
  const token = await simple.getToken({});
  return { isExpired: () => token.expired() };
}

/** What a program writes itself: a token until it expires, and each call that finds none asks. */
function cached(ask) {
  let token;
  return async () => {
    if (token === undefined || token.isExpired()) token = await ask();
    return token;
  };
}

/** The same with one request at a time, for all calls. */
function shared(ask) {
  let token;
  let flight;
  return async () => {
    if (token !== undefined && !token.isExpired()) return token;
    flight ??= ask().finally(() => (flight = undefined));
    token = await flight;
    return token;
  };
}

function managed() {
  const client = new OAuth2Client("id", "secret", { site: origin, tokenUrl: "/token" });
  const manager = new TokenManager(client, { grant: () => client.clientCredentials.getToken() });
  return () => manager.getToken();
}

const makers = {
  "@fetchwork/oauth2": managed,
  "openid-client, cached": () => cached(askOpenid),
  "openid-client, shared": () => shared(askOpenid),
  "simple-oauth2, cached": () => cached(askSimple),
  "simple-oauth2, shared": () => shared(askSimple),
};
const call = makers[name]();

let failed = 0;
let longest = 0;
async function one() {
  const start = performance.now();
  try {
    await call();
  } catch {
    failed += 1;
  }
  longest = Math.max(longest, performance.now() - start);
}

const total = Number(milliseconds);
const calls = [];
const start = performance.now();
while (calls.length < total) {
  // As many as are due, however late the timer is.
  const due = Math.min(total, Math.floor(performance.now() - start) + 1);
  while (calls.length < due) calls.push(one());
  await new Promise((resolve) => setTimeout(resolve, 1));
}
await Promise.all(calls);
process.send({ calls: calls.length, failed, longest }, () => process.exit());
