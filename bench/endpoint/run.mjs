// Measures `endpoint()` against @octokit/endpoint, and `expand()` against three RFC 6570 libraries.
//
//   npm run endpoint -- [rounds]          (after `npm run build` in the root; it measures packages/endpoint/dist)
//
// Each round runs every library in turn, in another order each time; round 0 warms up. The tables have medians over the
// rounds, and ratios of ours to theirs round by round: median, and lowest to highest. Every library gets the same calls;
// those that have a parse step also run with templates parsed before, which ours do by their cache. "conformance" counts
// the cases of ../shared/vectors/uri-template (or FETCHWORK_VECTORS) that a library expands as they say, and the malformed
// templates of packages/endpoint/test/rfc-6570.ts (our own list) that it refuses.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import os from "node:os";
import { join, resolve } from "node:path";
import { endpoint as octokit } from "@octokit/endpoint";
import { parse as parseUriTemplate } from "uri-template";
import uritemplate from "uritemplate";
import { parseTemplate as parseUrlTemplate } from "url-template";
import { createEndpoint, expand, github } from "../../packages/endpoint/dist/index.js";
import { malformed } from "../../packages/endpoint/test/rfc-6570.ts";

const rounds = Number(process.argv[2] ?? 15);
const root = resolve(import.meta.dirname, "../..");
const ours = createEndpoint({ vendor: github });
const shared = {
  baseUrl: "https://api.example.com",
  org: "octo",
  per_page: 100,
  headers: { authorization: "token 1" },
};
const builders = {
  "@fetchwork/endpoint": { endpoint: ours, withDefaults: ours.defaults(shared) },
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
  "headers (not a target)": ({ endpoint }) =>
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
  "@fetchwork/endpoint": expand,
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

console.log(`Node ${process.version}, ${os.cpus()[0]?.model}, ${rounds} rounds\n`);
for (const [title, call] of Object.entries(routes)) {
  const runs = Object.entries(builders).map(([name, builder]) => [name, () => call(builder).url]);
  addRows("endpoint()", title, measure(runs));
}
for (const [title, template] of Object.entries(templates)) {
  const runs = Object.entries(expanders).map(([name, run]) => [
    name,
    () => run(template, variables),
  ]);
  addRows("expand()", title, measure(runs));
}
printConformance();

/** @returns {Map<string, number[]>} Nanoseconds per call, a number per round. */
function measure(runs) {
  const amount = 20_000;
  const results = new Map(runs.map(([name]) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const turn = round % runs.length;
    for (const [name, run] of [...runs.slice(turn), ...runs.slice(0, turn)]) {
      let length = 0;
      const start = performance.now();
      for (let index = 0; index < amount; index += 1) length += run().length;
      const nanoseconds = ((performance.now() - start) * 1e6) / amount;
      if (length === 0) throw new Error("nothing was built");
      if (round > 0) results.get(name).push(nanoseconds);
    }
  }
  return results;
}

function addRows(heading, title, results) {
  console.log(`### ${heading}: ${title}\n`);
  console.log(
    "| library | ns per call | ops/s | ours is faster by |\n| --- | ---: | ---: | ---: |",
  );
  const [[, first]] = results;
  for (const [name, times] of results) {
    const ratios = times.map((time, index) => time / first[index]);
    const spread = `${Math.min(...ratios).toFixed(1)}–${Math.max(...ratios).toFixed(1)}`;
    const ratio = times === first ? "" : `${median(ratios).toFixed(1)}x (${spread})`;
    const time = median(times);
    console.log(
      `| ${name} | ${time.toFixed(0)} | ${Math.round(1e9 / time).toLocaleString("en")} | ${ratio} |`,
    );
  }
  console.log("");
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function printConformance() {
  const parent = process.env.FETCHWORK_VECTORS ?? join(root, "../shared/vectors");
  const folder = join(parent, "uri-template");
  if (!existsSync(folder)) return console.log(`conformance: skipped, ${folder} does not exist`);
  const cases = readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => Object.values(JSON.parse(readFileSync(join(folder, file), "utf8"))))
    .flatMap(({ variables, testcases }) => testcases.map((row) => [...row, variables]));
  console.log("### conformance\n\n| library | cases | malformed refused |\n| --- | ---: | ---: |");
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
    const counts = `${right.length} of ${cases.length} | ${refused.length} of ${malformed.length}`;
    console.log(`| ${name} | ${counts} |`);
  }
}
