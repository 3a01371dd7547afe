import { createServer, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  TokenManager,
  AccessToken,
  InvalidResponseError,
  OAuth2Client,
  OAuth2Error,
  type OAuth2ClientOptions,
} from "../../src/index.ts";
import { close, listen } from "../scripted-server.ts";

let server: Server;
let origin: string;
let answer: (response: ServerResponse, socket: Socket) => void;
let requests: number;

beforeEach(async () => {
  requests = 0;
  server = createServer((request, response) => {
    requests += 1;
    request.resume();
    answer(response, request.socket);
  });
  origin = await listen(server);
});
afterEach(() => close(server));

function clientWith(options: OAuth2ClientOptions = {}): OAuth2Client {
  const connectionOpts = { timeout: 5000 };
  return new OAuth2Client("id", "the-secret", { site: origin, connectionOpts, ...options });
}

function send(body: string, headers: Record<string, string> = {}, status = 200): void {
  answer = (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(body);
  };
}

async function failure(promise: Promise<unknown>): Promise<OAuth2Error> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OAuth2Error);
  if (!(error instanceof OAuth2Error)) throw error;
  expect(inspect(error)).not.toContain("the-secret");
  return error;
}

describe("lifetimes", () => {
  const lifetimes = [
    [null, undefined],
    ["1e400", 1],
    [1e308, Number.MAX_SAFE_INTEGER],
    ["9".repeat(25), Number.MAX_SAFE_INTEGER],
    [-1e308, -Number.MAX_SAFE_INTEGER],
    [-5, -5],
    ["-5", -5],
  ] as const;
  it.each(lifetimes)("reads an expires_in of %j as %j", async (value, seconds) => {
    send(JSON.stringify({ access_token: "A", expires_in: value }));
    const token = await clientWith().clientCredentials.getToken();
    expect(token.expiresIn).toBe(seconds);
    expect(token.expired()).toBe((seconds ?? 0) < 0);
    expect(Number.isSafeInteger(token.expiresAt ?? 0)).toBe(true);
  });

  it.each(["abc", "-Infinity", "never"])(
    "counts a token whose expires_in is %j as expired, also after it was stored",
    async (value) => {
      send(JSON.stringify({ access_token: "A", expires_in: value }));
      const client = clientWith();
      const token = await client.clientCredentials.getToken();
      const stored = AccessToken.fromHash(client, JSON.parse(JSON.stringify(token.toHash())));
      expect(token).toMatchObject({ token: "A", expiresIn: undefined, expiresAt: undefined });
      for (const each of [token, stored]) {
        expect(each.expires()).toBe(true);
        expect(each.expired()).toBe(true);
      }
    },
  );

  it("takes an empty expires_in or expires_at for none, also in a form", async () => {
    send("access_token=A&expires_in=", { "content-type": "application/x-www-form-urlencoded" });
    const client = clientWith();
    const token = await client.clientCredentials.getToken();
    expect(token).toMatchObject({ token: "A", expiresIn: undefined, expiresAt: undefined });
    expect([token.expires(), token.expired()]).toEqual([false, false]);
    const manager = new TokenManager(client);
    await manager.set(token);
    expect((await manager.getToken()).token).toBe("A");
    send(JSON.stringify({ access_token: "A", expires_at: "", expires_in: 60 }));
    const dated = await client.clientCredentials.getToken();
    expect(dated.expired()).toBe(false);
    expect(dated.expired((dated.expiresAt ?? 0) + 1)).toBe(true);
  });

  it("counts a refreshed token whose expires_in is unreadable as expired", async () => {
    const client = clientWith();
    send('{"access_token":"A2","expires_in":"soon"}');
    const token = AccessToken.fromHash(client, { refresh_token: "R", scope: "s" });
    expect((await token.refresh()).expired()).toBe(true);
  });

  it.each([true, false, {}, []])("refuses an expires_in of %j", async (value) => {
    send(JSON.stringify({ access_token: "A", expires_in: value }));
    const error = await failure(clientWith().clientCredentials.getToken());
    expect(error).toBeInstanceOf(InvalidResponseError);
  });

  it.each(["garbage", "0x10", "2033-13-99", {}, [], true])(
    "counts a token whose expires_at is %j as expired",
    async (value) => {
      send(JSON.stringify({ access_token: "A", expires_at: value, expires_in: 60 }));
      const token = await clientWith().clientCredentials.getToken();
      expect(token.expiresAt).toBe(0);
      expect(token.expired()).toBe(true);
    },
  );

  const hour = 3_600_000;
  it.each([
    ["milliseconds", (time: number) => time],
    ["milliseconds as text", (time: number) => String(time)],
    ["a date", (time: number) => new Date(time).toISOString()],
  ])("reads an expires_at in %s", async (_name, write) => {
    for (const [time, isExpired] of [
      [Date.now() - hour, true],
      [Date.now() + hour, false],
    ] as const) {
      send(JSON.stringify({ access_token: "A", expires_at: write(time) }));
      const token = await clientWith().clientCredentials.getToken();
      expect(token.expiresAt).toBe(Math.floor(time / 1000));
      expect(token.expired()).toBe(isExpired);
    }
  });

  it("reads an expires_at that is a Date; an invalid Date counts as expired", () => {
    const client = clientWith();
    const token = (at: Date): AccessToken =>
      AccessToken.fromHash(client, { access_token: "A", expires_at: at });
    expect(token(new Date(Date.now() - hour)).expired()).toBe(true);
    expect(token(new Date(Date.now() + hour)).expired()).toBe(false);
    expect(token(new Date(Number.NaN)).expired()).toBe(true);
    expect(token(new Date(Date.now() + hour)).toHash()).toMatchObject({
      expires_at: expect.any(Number),
    });
  });
});

describe("bodies", () => {
  it("stops reading an answer that is announced to be too large", async () => {
    let written = 0;
    answer = (response) => {
      response.writeHead(200, { "content-length": String(2 ** 40) });
      response.on("drain", () => (written += 1));
      response.write(Buffer.alloc(1000));
    };
    const error = await failure(clientWith().clientCredentials.getToken());
    expect(error.code).toBe("ERR_OAUTH_RESPONSE_TOO_LARGE");
    expect(written).toBeLessThan(3);
  });

  it("stops reading an endless answer, and holds no more than the limit", async () => {
    let stopped = false;
    let written = 0;
    answer = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(65_536, 97);
      const pump = (): void => {
        while (!stopped && response.write(chunk)) written += chunk.length;
      };
      response.on("drain", pump).on("close", () => (stopped = true));
      pump();
    };
    const error = await failure(
      clientWith({ maxResponseBytes: 100_000 }).clientCredentials.getToken(),
    );
    expect(error.code).toBe("ERR_OAUTH_RESPONSE_TOO_LARGE");
    // What the buffers of two sockets take besides.
    expect(written).toBeLessThan(20_000_000);
  });

  it("stops a small body that unpacks to a huge one", async () => {
    const { gzipSync } = await import("node:zlib");
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    answer = (response) => {
      response.writeHead(200, {
        "content-encoding": "gzip",
        "content-length": String(bomb.length),
      });
      response.end(bomb);
    };
    const error = await failure(clientWith().clientCredentials.getToken());
    expect(error.code).toBe("ERR_OAUTH_RESPONSE_TOO_LARGE");
  });

  it("takes larger answers of resources than of endpoints", async () => {
    send(JSON.stringify({ a: "x".repeat(2_000_000) }));
    const client = clientWith();
    expect((await client.request("get", "/r")).body.length).toBeGreaterThan(2_000_000);
    expect((await failure(client.clientCredentials.getToken())).code).toBe(
      "ERR_OAUTH_RESPONSE_TOO_LARGE",
    );
    expect((await failure(client.request("get", "/r", { maxResponseBytes: 10 }))).code).toBe(
      "ERR_OAUTH_RESPONSE_TOO_LARGE",
    );
  });

  const junk = [
    ["HTML", "<html>sign in</html>", "text/html"],
    ["JSON that is not a hash", '["A"]', "application/json"],
    ["JSON text", '"A"', "application/json"],
    ["nothing", "", "application/json"],
    ["a token as HTML", '{"access_token":"A"}', "text/html"],
    ["half of JSON", '{"access_token":"A"', "application/json"],
    ["deep JSON", `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, "application/json"],
    ["a hash without a token", '{"scope":"a"}', "application/json"],
    ["an empty token", '{"access_token":""}', "application/json"],
    ["a list as token", '{"access_token":["A"]}', "application/json"],
    ["a hash as token", '{"access_token":{"toString":"A"}}', "application/json"],
    ["true as token", '{"access_token":true}', "application/json"],
    ["two tokens in a form", "access_token=A&access_token=B", "application/x-www-form-urlencoded"],
    ["a line break in the token", '{"access_token":"A\\r\\nX: y"}', "application/json"],
    ["NUL in the token", '{"access_token":"A\\u0000"}', "application/json"],
    ["U+2028 in the token", '{"access_token":"A\\u2028"}', "application/json"],
    [
      "a line break in the refresh token",
      '{"access_token":"A","refresh_token":"\\n"}',
      "application/json",
    ],
    ["a list as refresh token", '{"access_token":"A","refresh_token":["R"]}', "application/json"],
  ] as const;
  it.each(junk)("refuses %s", async (_, body, type) => {
    send(body, { "content-type": type });
    const error = await failure(clientWith().clientCredentials.getToken());
    expect(error.code).toBe("ERR_OAUTH_RESPONSE");
    expect(error.message).not.toContain("A\r");
  });

  it("pollutes no prototype", async () => {
    const hostile =
      '{"access_token":"A","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"\\u005f_proto__":{"polluted":1}}';
    for (const snaky of [true, false]) {
      send(hostile);
      const response = await clientWith().request("get", "/r", { snaky });
      const token = AccessToken.fromHash(clientWith(), Object(response.parsed));
      expect(Reflect.get({}, "polluted")).toBeUndefined();
      expect(Reflect.get({ ...Object(response.parsed) }, "polluted")).toBeUndefined();
      expect(Reflect.get(Object.assign({}, response.parsed), "polluted")).toBeUndefined();
      expect(Reflect.get({ ...token.params, ...token.toHash() }, "polluted")).toBeUndefined();
    }
    send("access_token=A&__proto__=x&constructor=y", {
      "content-type": "application/x-www-form-urlencoded",
    });
    const token = await clientWith().clientCredentials.getToken();
    expect(Object.keys(token.params)).toEqual(["constructor"]);
    expect(Reflect.get({ ...token.params }, "polluted")).toBeUndefined();
    expect(Object.getPrototypeOf({ ...token.params })).toBe(Object.prototype);
  });

  it("takes no option of the answer, not even after the token was stored", async () => {
    send(
      JSON.stringify({
        access_token: "A",
        mode: "query",
        param_name: "p",
        header_format: "Evil %s",
        token_name: "x",
        expires_latency: 1e9,
        expires_in: 60,
      }),
    );
    const client = clientWith();
    const token = await client.clientCredentials.getToken();
    const restored = AccessToken.fromHash(client, JSON.parse(JSON.stringify(token.toHash())));
    for (const each of [token, restored]) {
      expect(each.options).toMatchObject({
        mode: "header",
        headerFormat: "Bearer %s",
        paramName: "access_token",
        expiresLatency: 0,
        tokenName: undefined,
      });
      expect(each.authorization()).toBe("Bearer A");
      expect(each.expired()).toBe(false);
    }
  });
});

describe("errors", () => {
  it("keeps line breaks and control characters of the server out of messages", async () => {
    send(
      JSON.stringify({ error: "a\r\nb", error_description: "c\u001B[31m\u2028d\u202Ee" }),
      {},
      400,
    );
    const error = await failure(clientWith().clientCredentials.getToken());
    // oxlint-disable-next-line no-control-regex
    expect(error.message).not.toMatch(/[\r\n\u001B\u2028\u202E]/);
    expect(error.code).toBe("a b");
  });

  it("keeps messages short", async () => {
    send(JSON.stringify({ error: "x".repeat(100_000) }), {}, 400);
    const error = await failure(clientWith().clientCredentials.getToken());
    expect(error.message.length).toBeLessThan(600);
  });

  it.each([true, null, {}, ["x"]])("has no code for an error of %j", async (value) => {
    send(JSON.stringify({ error: value, error_description: value }), {}, 400);
    const error = await failure(clientWith().clientCredentials.getToken());
    expect(error).toMatchObject({ code: undefined, description: undefined, status: 400 });
  });

  it("takes an error with a status of 200 for one", async () => {
    send('{"error":"bad_verification_code","error_description":"The code is void"}');
    const error = await failure(clientWith().authCode.getToken("c"));
    expect(error).toMatchObject({ code: "bad_verification_code", status: 200 });
  });
});

describe("redirects", () => {
  it.each([301, 302, 303, 307, 308])("follows none of status %d at an endpoint", async (status) => {
    send("", { location: "/elsewhere" }, status);
    const client = clientWith();
    const token = AccessToken.fromHash(client, { access_token: "A", refresh_token: "R" });
    for (const call of [client.clientCredentials.getToken(), token.refresh(), token.revoke()]) {
      expect((await failure(call)).code).toBe("ERR_OAUTH_REDIRECT");
    }
    expect(requests).toBe(3);
  });

  const locations = [
    "ftp://127.0.0.1/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://u:p@127.0.0.1/",
    "http://u@127.0.0.1/",
    "http://:p@127.0.0.1/",
    "http://[::",
    "data:,x",
  ];
  it.each(locations)("does not go to %s", async (location) => {
    send("", { location }, 302);
    expect((await failure(clientWith().request("get", "/r"))).code).toBe("ERR_OAUTH_REDIRECT");
    expect(requests).toBe(1);
  });
});

describe("connections", () => {
  it("ends a request whose answer never comes", async () => {
    answer = () => {};
    const error = await failure(
      clientWith({ connectionOpts: { timeout: 60 } }).clientCredentials.getToken(),
    );
    expect(error).toMatchObject({
      name: "OAuth2TimeoutError",
      code: "ERR_OAUTH_TIMEOUT",
      milliseconds: 60,
    });
  });

  it("ends a request whose answer comes in drops", async () => {
    answer = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(timer));
    };
    const error = await failure(
      clientWith({ connectionOpts: { timeout: 100 } }).clientCredentials.getToken(),
    );
    expect(error.code).toBe("ERR_OAUTH_TIMEOUT");
  });

  it("has an error for an answer that is cut off", async () => {
    answer = (response, socket) => {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"access_token":', () => socket.destroy());
    };
    expect((await failure(clientWith().clientCredentials.getToken())).code).toBe(
      "ERR_OAUTH_CONNECTION",
    );
  });

  it("has an error for what is not HTTP", async () => {
    answer = (_, socket) => {
      socket.end("HTTP/1.1 200 OK\r\nX: \u0000\r\nNonsense\r\n\r\n");
    };
    expect((await failure(clientWith().clientCredentials.getToken())).code).toBe(
      "ERR_OAUTH_CONNECTION",
    );
  });

  it("has an error for a server that is not there", async () => {
    const client = clientWith();
    await close(server);
    const error = await failure(client.clientCredentials.getToken());
    expect(error.code).toBe("ERR_OAUTH_CONNECTION");
    expect(error.message).toContain(origin);
  });

  it("returns the reason of a signal that is aborted", async () => {
    const controller = new AbortController();
    answer = () => controller.abort(new Error("changed my mind"));
    await expect(
      clientWith().clientCredentials.getToken({ signal: controller.signal }),
    ).rejects.toThrow("changed my mind");
    await expect(clientWith().request("get", "/r", { signal: controller.signal })).rejects.toThrow(
      "changed my mind",
    );
    expect(requests).toBe(1);
  });
});
