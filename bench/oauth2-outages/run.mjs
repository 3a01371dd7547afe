// Counts the calls that fail while a token endpoint is out of order, and the token requests that it gets meanwhile.
//
//   npm run oauth2-outages -- [rounds]  (after `npm run build` in the root; it measures packages/oauth2/dist)
//
// 1,000 calls a second for three seconds ask for a token, with @fetchwork/oauth2 and its peers in turn, each in a process of its
// own. The endpoint is in this process. An outage lasts from its first token request.
import { fork } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { endWithUs } from "../harness/children.ts";
import { Part } from "../harness/part.ts";

const part = new Part("oauth2-outages");
part.uses("openid-client", "simple-oauth2");

const duration = 3000;
const names = [
  "@fetchwork/oauth2",
  "openid-client, cached",
  "openid-client, shared",
  "simple-oauth2, cached",
  "simple-oauth2, shared",
];

const good = (response) => {
  const token = {
    access_token: "2YotnFZFEjr1zCsicMWpAA",
    token_type: "bearer",
    expires_in: 3600,
  };
  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(token));
};
const reset = (response) => response.socket.resetAndDestroy();
const refuse = (status, headers) => (response) => {
  response.writeHead(status, { "content-type": "text/plain", ...headers });
  response.end("out of order");
};
const slow = (response) => setTimeout(() => good(response), 1000);

/** Fails for some time from the first request on. */
const during =
  (milliseconds, fail) =>
  (response, { elapsed }) =>
    elapsed < milliseconds ? fail(response) : good(response);

const cases = {
  "one reset": (response, { index }) => (index === 0 ? reset(response) : good(response)),
  "one 500": (response, { index }) => (index === 0 ? refuse(500)(response) : good(response)),
  "resets for 1 s": during(1000, reset),
  "500 for 1 s": during(1000, refuse(500)),
  "503 for 1 s, Retry-After: 1": during(1000, refuse(503, { "retry-after": "1" })),
  "1 s late for 1 s": during(1000, slow),
};

let respond;
let requests = 0;
let firstAt;
const server = http.createServer((request, response) => {
  request.resume().on("end", () => {
    firstAt ??= performance.now();
    const index = requests;
    requests += 1;
    respond(response, { index, elapsed: performance.now() - firstAt });
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const origin = `http://127.0.0.1:${server.address().port}`;

async function run(name, fail) {
  respond = fail;
  requests = 0;
  firstAt = undefined;
  const args = [origin, name, String(duration)];
  const client = endWithUs(fork(`${import.meta.dirname}/client.mjs`, args));
  const [{ failed, longest }] = await once(client, "message");
  await once(client, "exit");
  return { failed, longest, requests };
}

const rounds = part.settings.rounds ?? (part.settings.isQuick ? 1 : 3);
const units = { failed: "failed calls", requests: "token requests", longest: "longest wait, ms" };
const measured = new Map();
for (const [work, fail] of Object.entries(cases)) {
  const results = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) results.get(name).push(await run(name, fail));
  }
  measured.set(work, results);
}
for (const [member, unit] of Object.entries(units)) {
  for (const [work, results] of measured) {
    const samples = [...results].map(([name, list]) => [
      name,
      list.map((result) => ({ value: Math.round(result[member]) })),
    ]);
    const measure = { group: "Of 3,000 calls", work, unit, own: [names[0]], isCount: true };
    part.add(measure, new Map(samples));
  }
}
part.close();
