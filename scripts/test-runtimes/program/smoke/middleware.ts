import { json, runHandler, text, type Middleware } from "@fetchwork/http";
import {
  basicAuthWithArgon2Hash,
  basicAuthWithBcryptHash,
  basicAuthWithUserPasswd,
  cacheControl,
  compress,
  cors,
  generateArgon2Hash,
  generateBcryptHash,
  health,
  idempotency,
  logger,
  maybe,
  rateLimit,
  recoverer,
  secure,
  sizeLimit,
  timeout,
  trace,
  wrap,
} from "@fetchwork/middleware";
import { expect, type Platform } from "../platform.ts";

/**
 * Puts a chain of middlewares around a handler and asks it over a socket for what each of them
 * does.
 */
export async function smoke(platform: Platform): Promise<void> {
  const lines: string[] = [];
  let calls = 0;
  // Workers refuse the WebAssembly that computes these hashes.
  const hashed = platform.name === "workerd" ? [] : await hashedPasswords();
  const handler = wrap(
    async (request) => {
      calls += 1;
      if (path(request) === "/throw") throw new Error("thrown on purpose");
      if (path(request) === "/large") return text("compress me ".repeat(1000));
      return json({ sent: await request.text(), calls });
    },
    trace(),
    logger({ format: "json", sink: (line) => void lines.push(line) }),
    recoverer({ log: () => {} }),
    health({ checks: [{ name: "store", check: () => undefined }] }),
    secure(),
    cors({ allowedOrigins: ["https://app.example"] }),
    rateLimit({ limit: 3, key: (request) => (path(request) === "/limited" ? "one" : undefined) }),
    ...hashed,
    maybe(
      basicAuthWithUserPasswd("ada", "secret", { prompt: false }),
      (request) => path(request) === "/plain",
    ),
    sizeLimit(100),
    idempotency(),
    timeout(10_000),
    compress(),
    maybe(cacheControl(60, "1"), (request) => path(request) === "/cached"),
  );
  const listener = await platform.listen((request) =>
    runHandler(handler, request, { peer: "127.0.0.1" }),
  );
  const ask = async (where: string, init: RequestInit = {}): Promise<[Response, string]> => {
    const response = await fetch(`${listener.origin}${where}`, init);
    return [response, await response.text()];
  };

  const [plain, body] = await ask("/", { method: "POST", body: "grün" });
  expect("an answer", [plain.status, JSON.parse(body)], [200, { sent: "grün", calls: 1 }]);
  expect("a security header", plain.headers.get("x-content-type-options"), "nosniff");
  expect("an identifier", (plain.headers.get("x-request-id") ?? "").length, 40);
  expect(
    "a large body",
    (await ask("/", { method: "POST", body: "x".repeat(101) }))[0].status,
    413,
  );
  expect("a handler that throws", (await ask("/throw"))[0].status, 500);
  expect("health", (await ask("/health"))[0].status, 200);

  const [preflight] = await ask("/", {
    method: "OPTIONS",
    headers: { origin: "https://app.example", "access-control-request-method": "PUT" },
  });
  const allowed = preflight.headers.get("access-control-allow-origin");
  expect("a preflight", [preflight.status < 300, allowed], [true, "https://app.example"]);

  for (const where of hashed.length === 0 ? ["/plain"] : ["/plain", "/argon2", "/bcrypt"]) {
    expect(`no password for ${where}`, (await ask(where))[0].status, 401);
    expect(`a wrong one for ${where}`, (await ask(where, withPassword("wrong")))[0].status, 403);
    expect(`the right one for ${where}`, (await ask(where, withPassword("secret")))[0].status, 200);
  }

  const [large, all] = await ask("/large", { headers: { "accept-encoding": "gzip" } });
  // `fetch` has undone the compression.
  expect(
    "compression",
    [all.length, /accept-encoding/i.test(large.headers.get("vary") ?? "")],
    [12_000, true],
  );
  const [cached] = await ask("/cached");
  const etag = cached.headers.get("etag") ?? "";
  expect(
    "a cached answer",
    (await ask("/cached", { headers: { "if-none-match": etag } }))[0].status,
    304,
  );

  const once = { method: "POST", body: "1", headers: { "idempotency-key": crypto.randomUUID() } };
  expect("a repeated request", (await ask("/", once))[1], (await ask("/", once))[1]);
  const limited: number[] = [];
  for (let left = 4; left > 0; left -= 1) limited.push((await ask("/limited"))[0].status);
  expect("the limit", limited, [200, 200, 200, 429]);
  expect("lines of the log", lines.join("").split("\n").length > 10, true);
  await listener.close();
}

async function hashedPasswords(): Promise<readonly Middleware[]> {
  const argon2 = await generateArgon2Hash("secret");
  const bcrypt = await generateBcryptHash("secret");
  return [
    maybe(
      basicAuthWithArgon2Hash("ada", argon2.hash, argon2.salt),
      (request) => path(request) === "/argon2",
    ),
    maybe(basicAuthWithBcryptHash("ada", bcrypt), (request) => path(request) === "/bcrypt"),
  ];
}

function path(request: Request): string {
  return new URL(request.url).pathname;
}

function withPassword(password: string): RequestInit {
  return { headers: { authorization: `Basic ${btoa(`ada:${password}`)}` } };
}
