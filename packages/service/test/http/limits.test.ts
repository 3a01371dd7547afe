import { describe, expect, it } from "vitest";
import { openApi, transports, type Answer, type TestApi } from "../open-api.ts";

const email = "ada@example.com";
const right = [email, "123456"] as const;
const wrong = [email, "wrong password"] as const;
const settings = { SIGN_IN_FAILURES: "3", PUBLIC_URL: "https://www.api.example" };
/** The key of every test service. */
const access_token = "test-master-key-test-master-key-0";

function signIn(api: TestApi, basic: readonly [string, string]): Promise<Answer> {
  return api.send("POST", "/auth", { basic, form: { access_token } });
}

describe.each(transports)("failed sign-ins (%s)", (transport) => {
  it("make further ones of the account wait, with the right password too", async () => {
    const api = await openApi(transport, settings);
    await api.send("POST", "/users", { form: { email, password: "123456", access_token } });
    for (let time = 0; time < 3; time += 1) expect((await signIn(api, wrong)).status).toBe(401);
    const refused = await signIn(api, right);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
    const wait = Number(refused.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(40);
    expect(wait).toBeLessThanOrEqual(60);
    const byPassword = { form: { password: "654321" }, basic: right };
    expect((await api.send("PUT", "/users/me/password", byPassword)).status).toBe(429);
  });

  it("count for names in any spelling, and for those that nobody has", async () => {
    const api = await openApi(transport, settings);
    await api.send("POST", "/users", { form: { email, password: "123456", access_token } });
    const statuses = async (names: readonly string[]): Promise<readonly unknown[]> => {
      const answers: unknown[] = [];
      for (const name of names) {
        const { status, json, headers } = await signIn(api, [name, "wrong password"]);
        answers.push([status, json.detail, headers.get("retry-after")]);
      }
      return answers;
    };
    const known = await statuses([email, ` ${email}`, "ADA@example.com", "Ada@Example.com "]);
    expect(known.map((answer) => (answer as readonly unknown[])[0])).toEqual([401, 401, 401, 429]);
    const unknown = ["eve@example.com", " eve@example.com", "EVE@example.com", "eve@example.com"];
    expect(await statuses(unknown)).toEqual(known);
  });

  it("let no more than the limit through at once", async () => {
    const api = await openApi(transport, settings);
    await api.send("POST", "/users", { form: { email, password: "123456", access_token } });
    const all = await Promise.all(Array.from({ length: 20 }, () => signIn(api, wrong)));
    const passed = all.filter(({ status }) => status === 401);
    expect(passed).toHaveLength(3);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(17);
  });

  it("do not count when they succeed, however many at once", async () => {
    const api = await openApi(transport, settings);
    await api.join(email);
    const all = await Promise.all(Array.from({ length: 20 }, () => signIn(api, right)));
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
  });

  it("are forgotten with a new password that came by mail", async () => {
    const api = await openApi(transport, settings);
    await api.send("POST", "/users", { form: { email, password: "123456", access_token } });
    for (let time = 0; time < 4; time += 1) await signIn(api, wrong);
    const link = "https://www.api.example/reset";
    await api.send("POST", "/password-resets", { form: { email, link, access_token } });
    const [, token = ""] =
      /\/reset\/([\w-]{43})/.exec((await api.service.nextMail(email)).text) ?? [];
    const form = { password: "654321" };
    expect((await api.send("PUT", `/password-resets/${token}`, { form })).status).toBe(200);
    expect((await signIn(api, [email, "654321"])).status).toBe(201);
  });

  it("mails to one address are limited, whether somebody has it or not", async () => {
    const api = await openApi(transport, settings);
    await api.send("POST", "/users", { form: { email, password: "123456", access_token } });
    for (const address of [email, "eve@example.com"]) {
      const statuses: number[] = [];
      for (let time = 0; time < 6; time += 1) {
        const form = { email: address, link: "https://www.api.example/reset", access_token };
        const { status, headers } = await api.send("POST", "/password-resets", { form });
        statuses.push(status);
        if (status === 429) expect(headers.get("retry-after")).toBe("900");
      }
      expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
    }
    for (let count = 0; count < 5; count += 1) await api.service.nextMail(email);
  });
});
