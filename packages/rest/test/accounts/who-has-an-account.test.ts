import { describe, expect, it } from "vitest";
import { createAttemptLimiter } from "../../src/attempt-limiter.ts";
import { defineUser } from "../../src/accounts/users/define-user.ts";
import type { Answer } from "../as-users.ts";
import { openAccounts, password, type Sent, type TestAccounts } from "./open-accounts.ts";
import { softwareAuthenticator } from "./software-authenticator.ts";

const link = "https://app.example/confirm";
const many = createAttemptLimiter({ limit: 1_000 });

function openPublic(): Promise<TestAccounts> {
  const settings = { signUpLimiter: many, mailLimiter: many, attempts: many };
  return openAccounts({ user: defineUser(), signUp: "public", signIn: "public", settings });
}

/** What everyone sees of an answer. */
function seen({ headers, json, status }: Answer): unknown {
  const shown = [...headers].filter(([name]) => name !== "x-request-id");
  return { status, json, headers: shown };
}

function shortest(times: readonly number[]): number {
  return Math.min(...times);
}

/** Names an address in each way that answers strangers. */
const calls: readonly (readonly [string, (email: string) => readonly [string, string, Sent]])[] = [
  ["a sign-up", (email) => ["POST", "/users", { json: { email, password, link } }]],
  ["a password reset", (email) => ["POST", "/password-resets", { json: { email, link } }]],
  ["a sign-in", (email) => ["POST", "/auth", { basic: [email, "wrong one"] }]],
  [
    "a sign-in of a page",
    (email) => [
      "POST",
      "/auth/cookie",
      { basic: [email, "wrong one"], headers: { "sec-fetch-site": "same-origin" } },
    ],
  ],
];

describe("who has an account", () => {
  it.each(calls)(
    "is not told by answer, headers and time of %s",
    { timeout: 60_000 },
    async (_what, make) => {
      const { create, send } = await openPublic();
      const known: number[] = [];
      const unknown: number[] = [];
      const answers = new Set<string>();
      const attempt = async (email: string, times: number[]): Promise<void> => {
        const begun = performance.now();
        const answer = await send(...make(email));
        times.push(performance.now() - begun);
        answers.add(JSON.stringify(seen(answer)));
      };
      for (let count = 0; count < 5; count += 1) await create(`known${count}@example.com`);
      for (let count = 0; count < 5; count += 1) {
        await attempt(`known${count}@example.com`, known);
        await attempt(`nobody${count}@example.com`, unknown);
      }
      expect([...answers]).toHaveLength(1);
      // Noise makes calls longer only. Where hashing is left out, which takes 20 ms, one is many
      // times as long as the other.
      const [shorter = 0, longer = 0] = [shortest(known), shortest(unknown)].toSorted(
        (a, b) => a - b,
      );
      expect(longer).toBeLessThan(12 + 3 * shorter);
    },
  );

  it("is told by a mail to the address alone, one for each sign-up", async () => {
    const { create, mails, nextMail, send } = await openPublic();
    await create("known@example.com");
    for (const email of ["known@example.com", "nobody@example.com"]) {
      expect((await send("POST", "/users", { json: { email, password, link } })).status).toBe(202);
      expect((await nextMail()).to).toBe(email);
    }
    expect(mails).toHaveLength(2);
  });

  it("is not told by many sign-ups of one address at once, known, unconfirmed or new", async () => {
    const { create, reports, send } = await openPublic();
    await create("known@example.com");
    const json = { email: "waiting@example.com", password, link };
    expect((await send("POST", "/users", { json })).status).toBe(202);
    for (const email of ["known", "waiting", "new"].map((name) => `${name}@example.com`)) {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => send("POST", "/users", { json: { ...json, email } })),
      );
      expect([email, new Set(answers.map(({ status }) => status))]).toEqual([
        email,
        new Set([202]),
      ]);
    }
    expect(reports).toEqual([]);
  });

  it("is not told by what a passkey is asked to sign", async () => {
    const { create, send } = await openPublic();
    const id = await create("known@example.com");
    const begin = async (json: object): Promise<unknown> => {
      const answer = await send("POST", "/passkeys/sign-in-options", { json });
      return seen({ ...answer, json: { ...answer.json, challenge: "" } });
    };
    const [nobody, byEmail, byId] = [
      await begin({}),
      await begin({ email: "known@example.com" }),
      await begin({ id }),
    ];
    expect([byEmail, byId]).toEqual([nobody, nobody]);
  });

  it("is not told by the handle of a passkey that nobody has registered", async () => {
    const { create, send } = await openPublic();
    const id = await create("known@example.com");
    const answers: unknown[] = [];
    for (const handle of [id, "nobody"]) {
      const authenticator = softwareAuthenticator(Buffer.from(handle).toString("base64url"));
      const begun = await send("POST", "/passkeys/sign-in-options");
      const response = authenticator.signIn(begun.json);
      answers.push(seen(await send("POST", "/passkeys/sign-in", { json: { response } })));
    }
    expect(answers[0]).toEqual(answers[1]);
  });
});
