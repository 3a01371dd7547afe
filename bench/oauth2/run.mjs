// Measures @fetchwork/oauth2 against openid-client, oauth4webapi and simple-oauth2 on a loopback token server.
//
//   npm run oauth2 -- [rounds]          (after `npm run build` in the root; it measures packages/oauth2/dist)
//
// The server is a process of its own, so that the CPU time is that of the client alone. Each round runs every client in
// turn, in another order each time; round 0 warms up. The tables have medians over the rounds, and ratios of CPU time, ours
// to theirs, round by round: median, and lowest to highest. Every client authenticates with Basic, parses JSON and keeps
// its connections; 16 requests are under way at a time.
import { fork } from "node:child_process";
import { once } from "node:events";
import os from "node:os";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { ClientCredentials } from "simple-oauth2";
import { rolldown } from "../../node_modules/rolldown/dist/index.mjs";
import {
  AccessToken,
  authorizedFetch,
  OAuth2Client,
  TokenManager,
} from "../../packages/oauth2/dist/index.js";

const rounds = Number(process.argv[2] ?? 11);
const requests = 2000;
const concurrency = 16;
const root = resolve(import.meta.dirname, "../..");

const child = fork(resolve(import.meta.dirname, "server.mjs"));
const [port] = await once(child, "message");
const origin = `http://127.0.0.1:${port}`;
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
const ours = new OAuth2Client("id", "secret", { site: origin, tokenUrl: "/token" });

const tokenRequests = {
  "@fetchwork/oauth2": async () => (await ours.clientCredentials.getToken({ scope: "read" })).token,
  oauth4webapi: async () => {
    const response = await oauth.clientCredentialsGrantRequest(
      as,
      { client_id: "id" },
      oauth.ClientSecretBasic("secret"),
      new URLSearchParams({ scope: "read" }),
      insecure,
    );
    const result = await oauth.processClientCredentialsResponse(as, { client_id: "id" }, response);
    return result.access_token;
  },
  "openid-client": async () =>
    (await openid.clientCredentialsGrant(configuration, { scope: "read" })).access_token,
  "simple-oauth2": async () => (await simple.getToken({ scope: "read" })).token.access_token,
  "bare fetch": async () => {
    const response = await fetch(`${origin}/token`, {
      method: "POST",
      headers: { authorization: basic, "content-type": "application/x-www-form-urlencoded" },
      body: "grant_type=client_credentials&scope=read",
    });
    return (await response.json()).access_token;
  },
};

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

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function compare(title, clients, expected) {
  const names = Object.keys(clients);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const order = names.map((_, index) => names[(index + round) % names.length]);
    for (const name of order) {
      globalThis.gc?.();
      const time = await measure(clients[name], expected);
      if (round > 0) times[name].push(time);
    }
  }
  const [first] = names;
  console.log(`\n| ${title} | CPU µs/request | requests/CPU s | ours / theirs (spread) |`);
  console.log("| --- | ---: | ---: | ---: |");
  for (const name of names) {
    const ratios = times[first].map((time, round) => time / times[name][round]);
    const spread = `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
    const time = median(times[name]);
    console.log(
      `| ${name} | ${time.toFixed(0)} | ${(1e6 / time).toFixed(0)} | ${name === first ? "" : spread} |`,
    );
  }
}

async function bundleSize(code, cwd) {
  const entry = "\0entry";
  const bundle = await rolldown({
    input: entry,
    cwd,
    platform: "browser",
    logLevel: "silent",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? code : undefined),
      },
    ],
    external: /^node:/,
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  const size = (chunk) => [chunk.code.length, gzipSync(chunk.code).length];
  const first = output.find((chunk) => chunk.isEntry);
  const all = output.filter((chunk) => chunk.type === "chunk").map(size);
  const sum = (index) => all.reduce((total, sizes) => total + sizes[index], 0);
  return { first: size(first), all: [sum(0), sum(1)] };
}

console.log(`Node ${process.version}, ${os.cpus()[0].model}, ${os.availableParallelism()} cores`);
console.log(`${requests} requests, ${concurrency} at a time, ${rounds} rounds, medians`);
await compare("client credentials", tokenRequests, value);
await compare("request with a valid token", authorizedRequests, 1);

const dist = `${root}/packages/oauth2/dist`;
const bench = resolve(import.meta.dirname, "..");
const bundles = {
  "@fetchwork/oauth2, `OAuth2Client`": `export { OAuth2Client } from "${dist}/index.js"`,
  "@fetchwork/oauth2, all": `export * from "${dist}/index.js"`,
  "@fetchwork/oauth2 and ./oidc, all": `export * from "${dist}/index.js"; export * from "${dist}/oidc/index.js"`,
  oauth4webapi: 'export * from "oauth4webapi"',
  "openid-client": 'export * from "openid-client"',
};
console.log("\n| bundle | minified | gzip | gzip with what is loaded later (jose) |");
console.log("| --- | ---: | ---: | ---: |");
for (const [name, code] of Object.entries(bundles)) {
  const { first, all } = await bundleSize(code, bench);
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  console.log(`| ${name} | ${kb(first[0])} | ${kb(first[1])} | ${kb(all[1])} |`);
}
child.disconnect();
