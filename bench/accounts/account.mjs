// Signs a user in, or answers requests of one who is signed in, over handlers in this process with
// SQLite in memory. One process per library and work; started by run.mjs with the source condition.
// Prints CPU µs per request, with those of threads that hash.
import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

const [, , library = "fetchwork", work = "sign-in", amountText = "20"] = process.argv;
const amount = Number(amountText);
const origin = "http://localhost:3000";
const email = "ada@example.com";
const password = "analytical engine";
const secret = randomBytes(32).toString("base64");

const makers = {
  async fetchwork() {
    const { openStore } = await import("@fetchwork/documents");
    const { createContext } = await import("@fetchwork/http");
    const { createApi, createAttemptLimiter } = await import("@fetchwork/rest");
    const { accounts, defineUser } = await import("@fetchwork/rest/accounts");
    const user = defineUser();
    const account = accounts({ user, signUp: "public", signIn: "public" });
    const store = await openStore("sqlite::memory:", {
      collections: [user.collection, ...account.collections],
    });
    const masterKey = "m".repeat(32);
    const attempts = createAttemptLimiter();
    const opened = account.open(store, { masterKey, jwtSecret: secret, title: "T", attempts });
    const { authentication, routes } = opened;
    const { handler } = createApi({ title: "T", version: "1", store, authentication, routes });
    const send = (path, init) => {
      const request = new Request(origin + path, init);
      return handler(request, Object.assign(createContext(request), { ip: "192.0.2.1" }));
    };
    const json = { "content-type": "application/json" };
    const body = JSON.stringify({ email, password });
    await send("/users", { method: "POST", headers: json, body });
    const basic = `Basic ${Buffer.from(`${email}:${password}`).toString("base64")}`;
    const signIn = () => send("/auth", { method: "POST", headers: { authorization: basic } });
    const { token } = await (await signIn()).json();
    const headers = { authorization: `Bearer ${token}` };
    return { "sign-in": signIn, "own user": () => send("/users/me", { headers }) };
  },
  "better-auth": () => openBetterAuth({}),
  "better-auth, cookie cache": () => openBetterAuth({ cookieCache: { enabled: true } }),
};

async function openBetterAuth(session) {
  const { betterAuth } = await import("better-auth");
  const { getMigrations } = await import("better-auth/db/migration");
  const options = {
    baseURL: origin,
    secret,
    database: new DatabaseSync(":memory:"),
    emailAndPassword: { enabled: true },
    // All requests here come from one address.
    rateLimit: { enabled: false },
    session,
    telemetry: { enabled: false },
  };
  await (await getMigrations(options)).runMigrations();
  const auth = betterAuth(options);
  const post = (path, body) =>
    auth.handler(
      new Request(`${origin}/api/auth${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", origin },
        body: JSON.stringify(body),
      }),
    );
  await post("/sign-up/email", { email, password, name: "Ada" });
  const signIn = () => post("/sign-in/email", { email, password });
  const cookies = (await signIn()).headers.getSetCookie().map((one) => one.split(";")[0]);
  const headers = { cookie: cookies.join("; ") };
  const ownUser = () => auth.handler(new Request(`${origin}/api/auth/get-session`, { headers }));
  return { "sign-in": signIn, "own user": ownUser };
}

const send = (await makers[library]())[work];
/** Every answer is read, and has the address of the user. */
async function times(count) {
  for (let done = 0; done < count; done += 1) {
    const response = await send();
    const text = await response.text();
    if (!response.ok || !text.includes(email)) throw new Error(`${response.status} ${text}`);
  }
}
await times(Math.ceil(amount / 5));
const before = process.cpuUsage();
await times(amount);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / amount);
process.exit();
