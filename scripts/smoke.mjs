// Asks a running blog API something real. By hand, in the folder where the API was started:
//   MASTER_KEY=... node scripts/smoke.mjs http://127.0.0.1:9000 [file with what the start printed]
import "./require-node.cjs";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

const [base, startOutput] = process.argv.slice(2);
const masterKey = process.env["MASTER_KEY"];
if (!base || !masterKey) {
  console.error("usage: MASTER_KEY=... node scripts/smoke.mjs BASE_URL [START_OUTPUT]");
  process.exit(2);
}

let passed = 0;
let failed = 0;
const email = `smoke-${randomUUID()}@example.com`;
const password = randomUUID();
const word = `w${randomUUID().replaceAll("-", "")}`;
let user = { id: "" };
let article = { id: "", title: "", createdAt: "" };
let token = "";

if (startOutput) {
  await check("the lines that the start prints work as pasted", () => {
    const answers = paste(startOutput);
    assert.ok(answers.length >= 4, `only ${answers.length} curl lines`);
    for (const { url, status, body } of answers) {
      assert.match(status, /^20[01]$/, `${status} of ${url}: ${body}`);
    }
    const list = JSON.parse(answers.at(-1)?.body ?? "");
    assert.ok(Array.isArray(list) && list.length > 0, "the last line lists no article");
  });
}

await check("the master key creates a user, whose JSON has no password", async () => {
  user = await ask("POST", "/users", {
    form: { email, password, access_token: masterKey },
    status: 201,
  });
  assert.equal(typeof user.id, "string");
  assert.doesNotMatch(JSON.stringify(user), /password|hash|argon2/i);
});

await check("nobody creates a user without the master key", async () => {
  await ask("POST", "/users", { form: { email: `x${email}`, password }, status: 401 });
});

await check("the user signs in", async () => {
  const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString("base64")}`;
  const form = { access_token: masterKey };
  const session = await ask("POST", "/auth", { form, authorization, status: 201 });
  token = session.token;
  assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+$/);
  assert.equal(session.user.id, user.id);
});

await check("the user creates an article", async () => {
  const form = { title: `First ${word}`, content: "One", access_token: token };
  article = await ask("POST", "/articles", { form, status: 201 });
  assert.equal(article.title, `First ${word}`);
  assert.equal(new Date(article.createdAt).toISOString(), article.createdAt);
});

await check(
  "nobody creates an article without a token, and it names the bad field of a bad one",
  async () => {
    await ask("POST", "/articles", { form: { title: word }, status: 401 });
    const problem = await ask("POST", "/articles", {
      json: { title: "" },
      authorization: bearer(),
      status: 400,
    });
    assert.equal(problem.valid, false);
    assert.equal(problem.param, "title");
  },
);

await check("everyone finds it in the list, with the fields they ask for", async () => {
  const list = await ask("GET", `/articles?q=${word}&page=1&limit=10&fields=title`, {
    status: 200,
  });
  assert.deepEqual(
    list.map((/** @type {typeof article} */ { title }) => title),
    [`First ${word}`],
  );
  assert.equal("content" in list[0], false);
});

await check("the user updates it", async () => {
  const json = { title: `Second ${word}` };
  await ask("PUT", `/articles/${article.id}`, { json, authorization: bearer(), status: 200 });
  const shown = await ask("GET", `/articles/${article.id}`, { status: 200 });
  assert.equal(shown.title, `Second ${word}`);
  assert.equal(shown.content, "One");
});

await check("nobody else deletes it; the user does, and it is gone", async () => {
  const path = `/articles/${article.id}`;
  await ask("DELETE", path, { status: 401 });
  await ask("DELETE", path, { authorization: bearer(), status: 204 });
  await ask("GET", path, { status: 404 });
});

await check("the OpenAPI document and the reference page are there", async () => {
  const document = await ask("GET", "/openapi.json", { status: 200 });
  assert.match(document.openapi, /^3\.2\./);
  assert.ok(document.paths["/articles"]);
  const page = await fetch(new URL("/docs", base));
  assert.equal(page.status, 200);
  assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
});

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * @param {string} name
 * @param {() => void | Promise<void>} run
 */
async function check(name, run) {
  try {
    await run();
    passed += 1;
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAULT ${name}\n      ${error instanceof Error ? error.message : String(error)}`);
  }
}

function bearer() {
  return `Bearer ${token}`;
}

/**
 * Sends a request, checks its status and returns its JSON.
 *
 * @param {string} method
 * @param {string} path
 * @param {{ form?: Record<string, string>, json?: unknown, authorization?: string, status: number
 * }} options
 * @returns {Promise<any>}
 */
async function ask(method, path, { form, json, authorization, status }) {
  const headers = new Headers({ accept: "application/json" });
  if (authorization) headers.set("authorization", authorization);
  if (json) headers.set("content-type", "application/json");
  const body = form ? new URLSearchParams(form) : json ? JSON.stringify(json) : null;
  const response = await fetch(new URL(path, base), {
    method,
    headers,
    body,
    signal: AbortSignal.timeout(15_000),
  });
  const text = await response.text();
  assert.equal(
    response.status,
    status,
    `${method} ${path}: ${response.status}, expected ${status}: ${text}`,
  );
  return text === "" ? undefined : JSON.parse(text);
}

/**
 * Runs the indented lines of the start's output in one shell, as a person pastes them.
 *
 * @param {string} file
 * @returns {readonly { readonly url: string, readonly status: string, readonly body: string }[]}
 */
function paste(file) {
  const lines = readFileSync(file, "utf8").match(/^ {2}\S.*$/gm) ?? [];
  // Each answer goes where the line sends it, and to descriptor 3 with its status. The last `-w` is
  // the one that counts.
  const recordingCurl = `curl() {
    local body; body=$(mktemp)
    local outcome; outcome=$(command curl -sS --max-time 15 "$@" -o "$body" -w '%{http_code} %{url_effective}')
    printf '%s %s\\n' "$outcome" "$(base64 -w 0 "$body")" >&3
    cat "$body"; rm "$body"
  }`;
  const shell = spawnSync(
    "bash",
    ["-c", `exec 3>&1 >/dev/null\n${recordingCurl}\n${lines.join("\n")}`],
    {
      encoding: "utf8",
    },
  );
  assert.equal(shell.stderr, "");
  return shell.stdout
    .trim()
    .split("\n")
    .map((line) => {
      const [status = "", url = "", body = ""] = line.split(" ");
      return { status, url, body: Buffer.from(body, "base64").toString() };
    });
}
