// One library in a separate process: `fork("client.mjs", [origin, name, milliseconds, work])`.
// 1,000 times a second for so long, it asks for a token (work "token"), or calls an API with it
// (work "api"). It waits for all calls, and sends how many failed, and how many took more than a
// second.
import * as openid from "openid-client";
import { ClientCredentials } from "simple-oauth2";
import { authorizedFetch, OAuth2Client, TokenManager } from "../../packages/oauth2/dist/index.js";

const [origin, name, milliseconds, work] = process.argv.slice(2);

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
  return { value: token.access_token, isExpired: () => performance.now() >= end };
}

async function askSimple() {
  const token = await simple.getToken({});
  return { value: token.token.access_token, isExpired: () => token.expired() };
}

/** What a program writes itself: a token until it expires, and each call that finds none asks. */
function cached(ask) {
  let token;
  const get = async () => {
    if (token === undefined || token.isExpired()) token = await ask();
    return token;
  };
  return { get, call: callWith(get, (refused) => token === refused && (token = undefined)) };
}

/** The same with one request at a time, for all calls. */
function shared(ask) {
  let token;
  let flight;
  const get = async () => {
    if (token !== undefined && !token.isExpired()) return token;
    flight ??= ask().finally(() => (flight = undefined));
    token = await flight;
    return token;
  };
  return { get, call: callWith(get, (refused) => token === refused && (token = undefined)) };
}

/**
 * What `authorizedFetch` does: a token that a 401 refuses is forgotten, and the call is sent once
 * more.
 */
function callWith(get, forget) {
  const send = async () => {
    const token = await get();
    const headers = { authorization: `Bearer ${token.value}` };
    return { token, response: await fetch(`${origin}/api`, { headers }) };
  };
  return async () => {
    const { token, response } = await send();
    if (response.status !== 401) return response;
    await response.arrayBuffer();
    forget(token);
    return (await send()).response;
  };
}

function managed() {
  const client = new OAuth2Client("id", "secret", { site: origin, tokenUrl: "/token" });
  const manager = new TokenManager(client, { grant: () => client.clientCredentials.getToken() });
  const api = authorizedFetch(manager);
  return { get: () => manager.getToken(), call: () => api(`${origin}/api`) };
}

const makers = {
  "@fetchwork/oauth2": managed,
  "openid-client, cached": () => cached(askOpenid),
  "openid-client, shared": () => shared(askOpenid),
  "simple-oauth2, cached": () => cached(askSimple),
  "simple-oauth2, shared": () => shared(askSimple),
};
const { get, call } = makers[name]();
const callApi = async () => {
  const response = await call();
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the API responded with ${response.status}`);
};
const perform = work === "api" ? callApi : get;

let failed = 0;
let late = 0;
async function one() {
  const start = performance.now();
  try {
    await perform();
  } catch {
    failed += 1;
  }
  if (performance.now() - start > 1000) late += 1;
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
process.send({ calls: calls.length, failed, late }, () => process.exit());
