import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { signRequest, Webhooks } from "@fetchwork/webhooks";
import { github, square } from "@fetchwork/webhooks/vendors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo, type MemoryIo } from "../memory-io.ts";
import { secretFile } from "./secret-file.ts";

const secret = "It's a Secret to Everybody";
const body = '{"action":"opened","text":"Grüße 🎉"}';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fetchwork-command-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

interface Listening {
  readonly url: string;
  readonly io: MemoryIo;
  readonly code: Promise<number>;
}

/** Starts `listen` on a free port. */
async function startListening(...args: string[]): Promise<Listening> {
  const stop = new AbortController();
  const io = memoryIo({ cwd: folder, signal: stop.signal });
  const all = ["webhooks", "listen", "--port", "0", ...args];
  const code = runCommand(commands, { args: all, io });
  let url = "";
  await expect
    .poll(() => (url = /http:\S+?(?=,|\n)/.exec(io.written.stderr)?.[0] ?? ""), { interval: 5 })
    .not.toBe("");
  return { url, io, code };
}

async function run(...args: string[]): Promise<readonly [number, string, string]> {
  const io = memoryIo({ cwd: folder, env: { FETCHWORK_WEBHOOK_SECRET: secret } });
  const code = await runCommand(commands, { args: ["webhooks", ...args], io });
  return [code, io.written.stdout, io.written.stderr];
}

/**
 * A command line that lacks nothing but what is under test; the file is there only where it is
 * read.
 */
const sending = ["send", "-", "-u", "http://127.0.0.1:1"];

describe("fetchwork webhooks send", () => {
  it.each<readonly [readonly string[], string]>([
    [["send", "x"], "--url is missing"],
    [sending, "--event is missing"],
    [["send", "x", "--url", "http://127.0.0.1:1", "--vendor", "nobody"], "--vendor must be one of"],
    [["send"], "file is missing"],
    [["listen", "--port", "99999"], "--port must be"],
    [["listen", "--secret-file", "missing"], 'cannot read the secret file "missing"'],
    [["listen", "--vendor", "twilio", ...secretFile("x")], "url must be the public URL"],
    [["listen", "--vendor", "square", ...secretFile("x"), "-u", "/a"], "must be the public URL"],
    [["listen", "--path", "hooks"], "--path must begin with a slash"],
    [["listen", "--vendor", "standard-webhooks", ...secretFile("no base64!")], "invalid secret"],
    ...["é€", "a\nb", "", " a", "x".repeat(257)].flatMap((value) => [
      [[...sending, "-e", value], "--event must be 1 to 256 ASCII characters"] as const,
      [[...sending, "-e", "a", "--id", value], "--id must be 1 to 256 ASCII characters"] as const,
    ]),
    [[...sending, "-e", "a", "-u", "nonsense"], "the URL is not absolute"],
    [
      [...sending, "--vendor", "standard-webhooks", ...secretFile("whsec_AAAA"), "--id", "a.b"],
      "without a full stop",
    ],
  ])("refuses %j", async (args, message) => {
    const [code, stdout, stderr] = await run(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });

  it("fails with one line for an unreachable server or a missing file", async () => {
    await writeFile(join(folder, "event.json"), body);
    const args = ["--url", "http://127.0.0.1:1/", "-e", "issues"];
    const [code, , stderr] = await run("send", "event.json", ...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^fetchwork webhooks send: .*refuses the connection.*\n$/);
    expect((await run("send", "missing.json", ...args))[2]).toMatch(
      /missing\.json: no such file or directory\n$/,
    );
  });

  it("signs a file so that a receiver accepts it", async () => {
    await writeFile(join(folder, "event.json"), body);
    const handled: unknown[] = [];
    const webhooks = new Webhooks({ secret, vendor: github });
    webhooks.on("issues.opened", ({ id, payload }) => handled.push([id, payload]));
    await using server = await serve(
      async (request) => {
        await webhooks.verifyAndReceive({
          id: request.headers.get("x-github-delivery") ?? "",
          name: request.headers.get("x-github-event") ?? "",
          signature: request.headers.get("x-hub-signature-256") ?? "",
          payload: await request.text(),
        });
        return text("thank you");
      },
      { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 },
    );
    const args = ["--url", server.url, "-e", "issues", "--id", "d1", "--vendor", "github"];
    expect(await run("send", "event.json", ...args)).toEqual([0, "200  d1  thank you\n", ""]);
    expect(handled).toEqual([["d1", JSON.parse(body)]]);
    const [, stdout] = await run("send", "event.json", ...args, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ id: "d1", status: 200, body: "thank you" });
  });

  it("prints the status of a response of any size and the beginning of its body", async () => {
    await writeFile(join(folder, "event.json"), body);
    const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 };
    await using server = await serve(() => text("x".repeat(3_000_000)), options);
    const args = ["send", "event.json", "-u", server.url, "-e", "issues", "--json"];
    const [code, stdout] = await run(...args);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { status: 200, body: "x".repeat(65_536) },
    ]);
  });

  it("treats an empty variable as no secret", async () => {
    await writeFile(join(folder, "event.json"), body);
    const io = memoryIo({ cwd: folder, env: { FETCHWORK_WEBHOOK_SECRET: "" } });
    const args = ["webhooks", "send", "event.json", "-u", "http://127.0.0.1:1", "-e", "issues"];
    expect(await runCommand(commands, { args, io })).toBe(2);
    expect(io.written.stderr).toContain("a secret is required: set FETCHWORK_WEBHOOK_SECRET");
  });

  it("escapes control sequences and bidirectional text in JSON", async () => {
    const hostile = "\u009b2J\u202e\u2028";
    await writeFile(join(folder, "event.json"), JSON.stringify({ action: hostile }));
    await using server = await serve(() => text(hostile), {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
    });
    const event = ["event.json", "-e", "issues", "--json"];
    const [, sent] = await run("send", ...event, "--url", server.url);
    const { url, io, code } = await startListening(...secretFile(secret), "--json", "--count", "1");
    await run("send", ...event, "--url", url);
    await code;
    expect(JSON.parse(sent)).toMatchObject({ body: hostile });
    expect(JSON.parse(io.written.stdout)).toMatchObject({ event: `issues.${hostile}` });
    expect(sent + io.written.stdout).toMatch(/^[\n -~]+$/);
  });
});

describe("fetchwork webhooks listen", () => {
  it("prints and saves verified and rejected deliveries", async () => {
    await writeFile(join(folder, "event.json"), body);
    await writeFile(join(folder, "secret"), `${secret}\n`);
    const options = ["--secret-file", "secret", "--save", "saved", "--json", "--count", "2"];
    const { url, io, code } = await startListening(...options);
    expect((await run("send", "event.json", "-u", url, "-e", "issues", "--id", "good"))[0]).toBe(0);
    const bad = [
      "send",
      "event.json",
      "-u",
      url,
      "-e",
      "issues",
      "--id",
      "bad",
      ...secretFile("other"),
    ];
    expect((await run(...bad))[0]).toBe(1);
    expect(await code).toBe(0);
    const lines = io.written.stdout
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(lines).toMatchObject([
      {
        id: "good",
        event: "issues.opened",
        verified: true,
        status: 200,
        bytes: Buffer.byteLength(body),
        payload: JSON.parse(body),
      },
      {
        id: "bad",
        event: "issues.opened",
        verified: false,
        status: 400,
        reason: expect.stringContaining("signature does not match"),
        payload: JSON.parse(body),
      },
    ]);
    expect(lines[0]).not.toHaveProperty("reason");
    const files = await readdir(join(folder, "saved"));
    expect(files.length).toBe(2);
    const path = join(folder, "saved", files[0] ?? "");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ body: { text: body } });
  });

  it("does not begin to listen where the folder of saved deliveries is a file", async () => {
    await writeFile(join(folder, "saved"), "something else");
    const [code, , stderr] = await run("listen", "--port", "0", "--save", "saved");
    expect([code, stderr]).toEqual([1, expect.stringContaining("already exists")]);
    expect(stderr).not.toContain("Listening");
  });

  it("verifies the signature of its public URL, and not of where it listens", async () => {
    const publicUrl = "https://example.com/hooks";
    const options = [
      "--vendor",
      "square",
      ...secretFile(secret),
      "--path",
      "/hooks",
      "-u",
      publicUrl,
    ];
    const { url, io, code } = await startListening(...options, "--json", "--count", "2");
    for (const signedUrl of [url, publicUrl]) {
      const delivery = {
        vendor: square,
        secret,
        name: "a.b",
        payload: { event_id: "e" },
      };
      const request = await signRequest({ ...delivery, url: `${signedUrl}?c=d` });
      const { headers } = request;
      await fetch(`${url}?c=d`, { method: "POST", headers, body: await request.text() });
    }
    expect(await code).toBe(0);
    const lines = io.written.stdout.trim().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { event: "a.b", verified: false, status: 400 },
      { event: "a.b", verified: true, status: 200 },
    ]);
  });

  it("accepts everything without a secret and escapes control sequences", async () => {
    const { url, io, code } = await startListening("--count", "2", "--save", "saved");
    const headers = { "x-vendor-event": "a\u009bc", "x-vendor-delivery": "../../../x" };
    const sly = '{"action":"\\u001b[2J\\u202e"}';
    const response = await fetch(url, { method: "POST", body: sly, headers });
    expect(response.status).toBe(200);
    expect((await fetch(`${url}/other`).catch(() => undefined))?.status ?? 404).toBe(404);
    await fetch(url, { method: "POST", body: new Uint8Array([0xff, 0]) });
    expect(await code).toBe(0);
    // oxlint-disable-next-line no-control-regex
    expect(io.written.stdout).not.toMatch(/[\u001b\u009b\u202e]/);
    expect(io.written.stdout).toContain("unverified  200  2 B");
    expect(await readdir(folder)).toEqual(["saved"]);
    const files = (await readdir(join(folder, "saved"))).toSorted();
    for (const file of files) expect(file).toMatch(/^[\w.-]+\.json$/);
    const last = join(folder, "saved", files.at(-1) ?? "");
    expect(await readFile(last, "utf8")).toContain('"base64": "/wA="');
  });

  it("prints payloads for people and why a delivery was rejected", async () => {
    await writeFile(join(folder, "event.json"), body);
    const { url, io, code } = await startListening(...secretFile(secret), "--count", "2");
    const send = ["send", "event.json", "-u", url, "-e", "issues"];
    await run(...send, "--id", "good");
    await run(...send, "--id", "bad", ...secretFile("other"));
    await code;
    const payload = '\n  {\n    "action": "opened",\n    "text": "Grüße 🎉"\n  }\n';
    const [first = "", second = ""] = io.written.stdout.split(/(?=^\d{4}-)/m);
    expect(first).toContain(`  issues.opened  good  verified  200  41 B${payload}`);
    expect(second).toContain(
      "  issues.opened  bad  wrong signature  refused 400  41 B\n  " +
        `signature does not match event payload and secret${payload}`,
    );
  });

  it("truncates long payloads for people only", async () => {
    const long = { text: "x".repeat(30_000) };
    await writeFile(join(folder, "event.json"), JSON.stringify(long));
    for (const options of [[], ["--json"]]) {
      const { url, io, code } = await startListening(
        ...secretFile(secret),
        "--count",
        "1",
        ...options,
      );
      await run("send", "event.json", "-u", url, "-e", "issues");
      await code;
      if (options.length === 0)
        expect(io.written.stdout).toMatch(/x\n {2}\.\.\. \d+ more characters\n$/);
      else expect(JSON.parse(io.written.stdout)).toMatchObject({ payload: long });
    }
  });

  it.each([
    ["", undefined],
    ["no JSON", "no JSON"],
  ])("calls the signature of %j right, though it refuses the body", async (content, payload) => {
    await writeFile(join(folder, "event.json"), content);
    const { url, io, code } = await startListening(...secretFile(secret), "--json", "--count", "1");
    await run("send", "event.json", "-u", url, "-e", "issues");
    await code;
    const seen: unknown = JSON.parse(io.written.stdout);
    expect(seen).toMatchObject({
      verified: true,
      status: 400,
      reason: "SyntaxError: Invalid JSON",
      ...(payload !== undefined && { payload }),
    });
  });

  it.each([
    ["--path", "/hooks"],
    ["--path", "/hooks/"],
  ])(
    "prints, saves and counts a delivery whatever slashes its path ends with, with %s %s",
    async (...path) => {
      for (const options of [[], [...secretFile(secret)]]) {
        const args = [...path, ...options, "--json", "--count", "3", "--save", "saved"];
        const { url, io, code } = await startListening(...args);
        await writeFile(join(folder, "event.json"), body);
        for (const target of ["/hooks", "/hooks/", "/hooks//"]) {
          const [sent] = await run(
            "send",
            "event.json",
            "-e",
            "a",
            "-u",
            new URL(target, url).href,
          );
          expect(sent).toBe(0);
        }
        expect(await code).toBe(0);
        expect(io.written.stdout.trim().split("\n").length).toBe(3);
      }
      expect((await readdir(join(folder, "saved"))).length).toBe(6);
    },
  );

  it("responds to Slack's challenge without a secret too", async () => {
    const { url, io, code } = await startListening("--vendor", "slack", "--count", "1", "--json");
    const challenge = { type: "url_verification", challenge: "abc" };
    const response = await fetch(url, { method: "POST", body: JSON.stringify(challenge) });
    expect(await response.text()).toBe("abc");
    await code;
    expect(JSON.parse(io.written.stdout)).toMatchObject({ payload: challenge });
  });

  it("reads the payload of a form", async () => {
    const { url, io, code } = await startListening("--vendor", "slack", "--count", "1", "--json");
    const form = new URLSearchParams({ payload: '{"type":"block_actions","trigger_id":"t1"}' });
    await fetch(url, { method: "POST", body: form });
    await code;
    expect(JSON.parse(io.written.stdout)).toMatchObject({
      id: "t1",
      event: "block_actions",
      payload: { type: "block_actions" },
    });
  });

  it("prints colours on a terminal only", async () => {
    const stop = new AbortController();
    const io = memoryIo({ cwd: folder, signal: stop.signal });
    const terminal = { ...io, stdout: { ...io.stdout, isTerminal: true } };
    const args = ["webhooks", "listen", "-p", "0", "--count", "1"];
    const code = runCommand(commands, { args, io: terminal });
    await expect.poll(() => io.written.stderr).toContain("http");
    const url = /http:\S+?(?=,|\n)/.exec(io.written.stderr)?.[0] ?? "";
    await fetch(url, { method: "POST", body });
    await code;
    expect(io.written.stdout).toContain("\u001b[");
  });

  it("stops on a signal", async () => {
    const stop = new AbortController();
    const io = memoryIo({ signal: stop.signal });
    const args = ["webhooks", "listen", "-p", "0"];
    const code = runCommand(commands, { args, io });
    await expect.poll(() => io.written.stderr).toContain("Listening");
    stop.abort();
    expect(await code).toBe(0);
  });
});

describe("untrusted text", () => {
  const moving = /[\x7f-\x9f\u2028\u202e]/;
  const strange = "opened\u009b2J\u202e\u2028";

  it("is escaped in the JSON of listen", async () => {
    await writeFile(join(folder, "event.json"), JSON.stringify({ action: strange }));
    const { url, io, code } = await startListening("--json", "--count", "1");
    await run("send", "event.json", "-u", url, "-e", "issues");
    await code;
    expect(io.written.stdout).not.toMatch(moving);
    expect(JSON.parse(io.written.stdout)).toMatchObject({ event: `issues.${strange}` });
  });

  it("is escaped in the JSON of send", async () => {
    await writeFile(join(folder, "event.json"), body);
    const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 };
    await using server = await serve(() => text(strange), options);
    const [, stdout] = await run("send", "event.json", "-u", server.url, "-e", "issues", "--json");
    expect(stdout).not.toMatch(moving);
    expect(JSON.parse(stdout)).toMatchObject({ body: strange });
  });
});

describe("fetchwork webhooks send with saved deliveries", () => {
  it("sends them unchanged, or with a new signature", async () => {
    await writeFile(join(folder, "event.json"), body);
    const first = await startListening(...secretFile(secret), "--save", "saved", "--count", "1");
    await run("send", "event.json", "-u", first.url, "-e", "issues", "--id", "d1");
    await first.code;
    const [file = ""] = await readdir(join(folder, "saved"));
    const path = join("saved", file);

    const same = await startListening(...secretFile(secret), "--json", "--count", "1");
    const io = memoryIo({ cwd: folder });
    const args = ["webhooks", "send", path, "-u", same.url];
    expect(await runCommand(commands, { args, io })).toBe(0);
    await same.code;
    expect(JSON.parse(same.io.written.stdout)).toMatchObject({ id: "d1", verified: true });

    const other = await startListening(...secretFile("another secret"), "--json", "--count", "2");
    expect((await run("send", path, "-u", other.url, ...secretFile("another secret")))[0]).toBe(0);
    expect((await run("send", path, "-u", other.url, ...secretFile("wrong secret")))[0]).toBe(1);
    await other.code;
  });

  it("prints the identifier that it sent", async () => {
    await writeFile(join(folder, "event.json"), body);
    const send = ["send", "event.json", "--id", "d1", "-e", "issues"];
    const first = await startListening("--save", "saved", "--count", "1", "--vendor", "github");
    await run(...send, "--vendor", "github", "-u", first.url);
    await first.code;
    const [file = ""] = await readdir(join(folder, "saved"));
    const again = await startListening("--json", "--count", "1", "--vendor", "github");
    const io = memoryIo({ cwd: folder });
    const args = ["webhooks", "send", join("saved", file), "--vendor", "github", "-u", again.url];
    expect(await runCommand(commands, { args, io })).toBe(0);
    await again.code;
    expect(io.written.stdout).toBe("200  d1  ok\n");
    expect(JSON.parse(again.io.written.stdout)).toMatchObject({ id: "d1" });
  });
});
