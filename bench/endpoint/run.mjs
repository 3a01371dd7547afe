// Measures `endpoint()` against @octokit/endpoint, and `expand()` against three RFC 6570 libraries.
//
//   npm run endpoint -- [rounds]          (after `npm run build` in the root; it measures packages/endpoint/dist)
//
// All run in one process, one after another, with the garbage of the one before collected. Every
// library gets the same calls; those that have a parse step also run with templates parsed before,
// which ours do by their cache. "conformance" counts the cases of uri-template below
// FETCHWORK_VECTORS that a library expands as they say, and the malformed templates of
// packages/endpoint/test/rfc-6570.ts (our own list) that it refuses.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endpoint as octokit } from "@octokit/endpoint";
import { parse as parseUriTemplate } from "uri-template";
import uritemplate from "uritemplate";
import { parseTemplate as parseUrlTemplate } from "url-template";
import { createEndpoint, expand, githubPreset } from "../../packages/endpoint/dist/index.js";
import { malformed } from "../../packages/endpoint/test/rfc-6570.ts";
import { Part } from "../harness/part.ts";
import { secondsToCheckRoutes } from "./literal-routes.mjs";

const part = new Part("endpoint");
part.uses("@octokit/endpoint", "url-template", "uri-template", "uritemplate");
const OURS = "@fetchwork/endpoint";
const ours = createEndpoint({ vendor: githubPreset });
const shared = {
  baseUrl: "https://api.example.com",
  org: "octo",
  per_page: 100,
  headers: { authorization: "token 1" },
};
const builders = {
  [OURS]: { endpoint: ours, withDefaults: ours.defaults(shared) },
  "@octokit/endpoint": { endpoint: octokit, withDefaults: octokit.defaults(shared) },
};

const routes = {
  "no parameters": ({ endpoint }) => endpoint("GET /emojis"),
  path: ({ endpoint }) => endpoint("GET /repos/{owner}/{repo}", { owner: "octo", repo: "hello" }),
  query: ({ endpoint }) => endpoint("GET /user/repos", { type: "private", per_page: 100, page: 2 }),
  body: ({ endpoint }) =>
    endpoint("POST /repos/{owner}/{repo}/issues", {
      owner: "octo",
      repo: "hello",
      title: "Found a bug",
      labels: ["bug"],
    }),
  "template query": ({ endpoint }) =>
    endpoint("POST https://uploads.example.com/assets{?name,label}", {
      name: "example.zip",
      label: "short description",
      data: "Hello",
    }),
  defaults: ({ withDefaults }) => withDefaults("GET /orgs/{org}/repos", { type: "private" }),
  "headers per call": ({ endpoint }) =>
    endpoint("GET /orgs/{org}", { org: "octo", headers: { authorization: "token 1" } }),
};

const parsed = (parse) => {
  const known = new Map();
  return (template, variables) => {
    let found = known.get(template);
    if (found === undefined) known.set(template, (found = parse(template)));
    return found.expand(variables);
  };
};
const expanders = {
  [OURS]: expand,
  "url-template": (template, variables) => parseUrlTemplate(template).expand(variables),
  "url-template, parsed before": parsed(parseUrlTemplate),
  "uri-template": (template, variables) => parseUriTemplate(template).expand(variables),
  "uri-template, parsed before": parsed(parseUriTemplate),
  uritemplate: (template, variables) => uritemplate.parse(template).expand(variables),
  "uritemplate, parsed before": parsed(uritemplate.parse),
};
const variables = {
  owner: "octo",
  repo: "hello world",
  path: "/a/b c",
  list: ["red", "green", "blue"],
  keys: { a: "1", b: "é" },
  page: "2",
};
const templates = {
  "level 1": "/repos/{owner}/{repo}",
  "level 3": "/repos{/owner,repo}{?page,path}{#path}",
  "level 4": "/x{/list*}{?keys*,owner:3}{&list}",
};

for (const [work, call] of Object.entries(routes)) {
  const run =
    ({ endpoint, withDefaults }) =>
    () =>
      call({ endpoint, withDefaults }).url;
  const runs = new Map(Object.entries(builders).map(([name, builder]) => [name, run(builder)]));
  await compare({ group: "`endpoint()`", work }, runs);
}
for (const [work, template] of Object.entries(templates)) {
  const run = (expander) => () => expander(template, variables);
  const runs = new Map(Object.entries(expanders).map(([name, each]) => [name, run(each)]));
  await compare({ group: "`expand()`", work }, runs);
}
countConformance();
await part.attempt("the type check", () => {
  const values = secondsToCheckRoutes(3).map((value) => ({ value }));
  const name = { group: "Type check", work: "200 literal routes", unit: "s", own: [OURS] };
  part.add(name, new Map([[OURS, values]]));
});
part.close();

/** Nanoseconds of CPU for each call. */
async function compare(name, runs) {
  const amount = 40_000;
  const measure = (library) => {
    const run = runs.get(library);
    globalThis.gc?.();
    let length = 0;
    // A full collection also throws away compiled code.
    for (let index = 0; index < amount / 2; index += 1) length += run().length;
    const before = process.cpuUsage();
    for (let index = 0; index < amount; index += 1) length += run().length;
    const { user, system } = process.cpuUsage(before);
    if (length === 0) throw new Error("nothing was built");
    const value = ((user + system) * 1000) / amount;
    return { value };
  };
  const sampling = { names: [...runs.keys()], measure, seconds: 6, warmUp: 3, least: 7 };
  await part.compare({ ...name, unit: "CPU ns", own: [OURS] }, sampling);
}

function countConformance() {
  const parent = process.env.FETCHWORK_VECTORS ?? "";
  const folder = join(parent, "uri-template");
  if (!existsSync(folder)) return part.leaveOut("conformance", "the vectors are not here");
  const cases = readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => Object.values(JSON.parse(readFileSync(join(folder, file), "utf8"))))
    .flatMap(({ variables, testcases }) => testcases.map((row) => [...row, variables]));
  const missed = new Map();
  const taken = new Map();
  for (const [name, run] of Object.entries(expanders)) {
    if (name.endsWith("before")) continue;
    const right = cases.filter(([template, expected, values]) => {
      try {
        return [expected].flat().includes(run(template, values));
      } catch {
        return expected === false;
      }
    });
    const refused = malformed.filter(([template]) => {
      try {
        run(template, {});
        return false;
      } catch {
        return true;
      }
    });
    missed.set(name, [{ value: cases.length - right.length }]);
    taken.set(name, [{ value: malformed.length - refused.length }]);
  }
  const group = "Conformance";
  const counted = { own: [OURS], isCount: true };
  part.add(
    { group, work: `of ${cases.length} public cases`, unit: "expanded wrongly", ...counted },
    missed,
  );
  const work = `of ${malformed.length} malformed templates`;
  part.add({ group, work, unit: "taken", ...counted }, taken);
}
