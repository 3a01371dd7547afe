import { once } from "node:events";
import { request as ask } from "node:http";
import { expect, it } from "vitest";
import { startListening } from "./listening.ts";
import { secretFile } from "./secret-file.ts";

/** Asks by any name of the host, as a browser does whose DNS was rebound. */
async function statusFor(url: string, host: string, headers = {}): Promise<number | undefined> {
  const request = ask(url, { headers: { ...headers, host } }).end();
  const [response] = await once(request, "response");
  response.resume();
  return response.statusCode;
}

it("The page of listen is there for names of this machine only", async () => {
  const { url, token } = await startListening();
  const { origin, port } = new URL(url);
  const authorization = `Bearer ${token}`;
  for (const host of ["evil.example", `evil.example:${port}`, `127.0.0.1.evil.example:${port}`]) {
    expect(await statusFor(`${origin}/`, host)).toBe(404);
    expect(await statusFor(`${origin}/listen/deliveries`, host, { authorization })).toBe(404);
  }
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    expect(await statusFor(`${origin}/`, host)).toBe(200);
    expect(await statusFor(`${origin}/listen/deliveries`, host, { authorization })).toBe(200);
  }
});

it("The page of listen shows and replays nothing without its token", async () => {
  const { url, token, arrived } = await startListening();
  await fetch(url, { method: "POST", body: '{"a":1}' });
  const { origin } = new URL(url);
  for (const authorization of ["", "Bearer ", `Bearer ${token}x`, `Basic ${token}`]) {
    const headers = { authorization, "sec-fetch-site": "same-origin" };
    expect((await fetch(`${origin}/listen/deliveries`, { headers })).status).toBe(401);
    const replay = `${origin}/listen/replay?number=1`;
    expect((await fetch(replay, { method: "POST", headers })).status).toBe(401);
  }
  expect(arrived).toEqual(['{"a":1}']);
});

it("The page of listen loads nothing of others, is embedded nowhere, and has no data", async () => {
  const { url } = await startListening();
  await fetch(url, { method: "POST", body: '{"a":"canary"}' });
  const { origin } = new URL(url);
  for (const path of ["/", "/listen/listen.js", "/portal/elements.js", "/portal/portal.css"]) {
    const response = await fetch(origin + path);
    expect(response.status).toBe(200);
    const policy = response.headers.get("content-security-policy");
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';.* frame-ancestors 'none';/);
    expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(await response.text()).not.toMatch(/https?:|canary/);
  }
  for (const path of ["/listen/", "/portal/portal.html", "/portal/../package.json"]) {
    expect((await fetch(origin + path)).status).toBe(404);
  }
});

it("The page of listen has the last 20 deliveries without a secret that a header contains", async () => {
  const { url, token } = await startListening("--vendor", "gitlab", ...secretFile("the-secret"));
  const { origin } = new URL(url);
  for (let number = 1; number <= 22; number += 1) {
    const body = `{"object_kind":"push","n":${number}}`;
    const headers = {
      "content-type": "application/json",
      "x-gitlab-event": "Push Hook",
      "x-gitlab-event-uuid": `u${number}`,
      "x-gitlab-token": number === 22 ? "wrong" : "the-secret",
    };
    await fetch(url, { method: "POST", headers, body });
  }
  const headers = { authorization: `Bearer ${token}` };
  const read = async (after: number): Promise<{ deliveries: object[] }> => {
    const response = await fetch(`${origin}/listen/deliveries?after=${after}`, { headers });
    const content = await response.text();
    expect(content).not.toContain("the-secret");
    return JSON.parse(content) as { deliveries: object[] };
  };
  expect((await read(0)).deliveries.length).toBe(20);
  const { deliveries } = await read(20);
  expect(deliveries).toMatchObject([
    { version: 21, event: "push", id: "u21", verified: true, status: 200, number: 21 },
    { version: 22, verified: false, status: 400, reason: expect.stringContaining("signature") },
  ]);
  expect(deliveries[1]).not.toHaveProperty("number");
  const missing = `${origin}/listen/replay?number=99`;
  expect((await fetch(missing, { method: "POST", headers })).status).toBe(404);
});

it("listen has no page when it listens for other machines too", async () => {
  const { url, page, io } = await startListening("--host", "0.0.0.0");
  expect([page, io.written.stderr.includes("#")]).toEqual(["", false]);
  const { port } = new URL(url);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
});
