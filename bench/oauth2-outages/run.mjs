// Counts the calls that fail while a token endpoint or an API is out of order, and the token
// requests in that time.
//
//   npm run oauth2-outages -- [rounds]  (after `npm run build` in the root; it measures packages/oauth2/dist)
//
// 1,000 calls a second for three seconds, with @fetchwork/oauth2 and its peers in turn, each in a
// separate process. The endpoints are in this process. An outage lasts from the first request
// that reaches what is out of order. A round has every client in every outage; each round begins
// with another one, and every other one goes backwards.
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

const apiCases = { "401 for 1 s": during(1000, refuse(401, { "www-authenticate": "Bearer" })) };

/** Outages of an API that say nothing about the token: none is a reason for a token request. */
const faultyApiCases = {
  "resets for 1 s": cases["resets for 1 s"],
  "500 for 1 s": cases["500 for 1 s"],
  "503 for 1 s, Retry-After: 1": cases["503 for 1 s, Retry-After: 1"],
  "1 s late for 1 s": cases["1 s late for 1 s"],
};

const groups = {
  "Token endpoint, of 3,000 calls": { work: "token", cases },
  "API, of 3,000 calls": { work: "api", cases: apiCases },
  "API out of order, of 3,000 calls": { work: "api", cases: faultyApiCases },
};

let failing;
let tokenRequests = 0;
const server = http.createServer((request, response) => {
  request.resume().on("end", () => {
    const isToken = request.url === "/token";
    if (isToken) tokenRequests += 1;
    if (isToken !== (failing.work === "token")) {
      good(response);
      return;
    }
    failing.firstAt ??= performance.now();
    const index = failing.requests;
    failing.requests += 1;
    failing.respond(response, { index, elapsed: performance.now() - failing.firstAt });
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const origin = `http://127.0.0.1:${server.address().port}`;

async function run({ work, respond, name }) {
  failing = { work, respond, requests: 0, firstAt: undefined };
  tokenRequests = 0;
  const args = [origin, name, String(duration), work];
  const client = endWithUs(fork(`${import.meta.dirname}/client.mjs`, args));
  const [{ failed, late }] = await once(client, "message");
  await once(client, "exit");
  return { value: failed, more: { late, tokenRequests } };
}

const runs = new Map();
for (const [group, { work, cases: ofGroup }] of Object.entries(groups)) {
  for (const [outage, respond] of Object.entries(ofGroup)) {
    for (const name of names) runs.set(`${group}: ${outage}: ${name}`, { work, respond, name });
  }
}
const samples = await part.sample({
  names: [...runs.keys()],
  measure: (key) => run(runs.get(key)),
  // As many rounds as `least`.
  seconds: 0,
  warmUp: 0,
});

const units = {
  "failed calls": ({ value }) => value,
  "token requests": ({ more }) => more.tokenRequests,
};
/** Where an outage delays calls instead of failing them. */
const unitsOfWaits = {
  ...units,
  "calls that waited for more than a second": ({ more }) => more.late,
};
for (const [group, { cases: ofGroup }] of Object.entries(groups)) {
  for (const [unit, count] of Object.entries(ofGroup === apiCases ? units : unitsOfWaits)) {
    for (const outage of Object.keys(ofGroup)) {
      const counts = names.map((name) => [
        name,
        samples.get(`${group}: ${outage}: ${name}`).map((sample) => ({ value: count(sample) })),
      ]);
      const measure = { group, work: outage, unit, own: [names[0]], isCount: true };
      part.add(measure, new Map(counts));
    }
  }
}
part.close();
