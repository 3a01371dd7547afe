import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { serve, toNodeListener } from "@fetchwork/http/serve";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { expect, it, onTestFinished } from "vitest";
import { openIdConnect, signIn, signInProvider, type SignIn } from "../../src/sign-in/index.ts";
import { executablePath, isMissing, openPage } from "../../../middleware/test/chromium.ts";
import { closeServer, startProvider } from "../provider-server.ts";
import { secret } from "./handlers.ts";

const clientSecret = "a secret of the client, of thirty-two bytes";

it("this machine has Chromium for the sign-ins in other frameworks", ({ skip }) => {
  skip(isMissing && !process.env["CI"], `${executablePath} is not installed`);
  expect(isMissing).toBe(false);
});

/**
 * Serves an application, made of the handlers of a sign-in that come later, and returns its origin.
 */
type Mount = (auth: () => SignIn) => Promise<string>;

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => closeServer(server));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const frameworks: Readonly<Record<string, Mount>> = {
  Express: (auth) => {
    const app = express();
    app.get(
      "/login",
      toNodeListener((request) => auth().login(request)),
    );
    app.get(
      "/callback",
      toNodeListener((request) => auth().callback(request)),
    );
    app.get("/account", (request, response) => void response.send(request.headers.cookie));
    return listen(app);
  },
  Fastify: async (auth) => {
    const app = fastify();
    const login = toNodeListener((request) => auth().login(request));
    const callback = toNodeListener((request) => auth().callback(request));
    app.get("/login", (request, reply) => {
      reply.hijack();
      login(request.raw, reply.raw);
    });
    app.get("/callback", (request, reply) => {
      reply.hijack();
      callback(request.raw, reply.raw);
    });
    app.get("/account", (request) => request.headers.cookie);
    onTestFinished(() => app.close());
    return app.listen({ port: 0, host: "127.0.0.1" });
  },
  Hono: async (auth) => {
    const app = new Hono();
    app.get("/login", (c) => auth().login(c.req.raw));
    app.get("/callback", (c) => auth().callback(c.req.raw));
    app.get("/account", (c) => c.text(c.req.header("cookie") ?? ""));
    const server = await serve(app.fetch, { port: 0, hostname: "127.0.0.1", signals: false });
    onTestFinished(() => server.close());
    return `http://127.0.0.1:${server.port}`;
  },
};

it.skipIf(isMissing).each(Object.entries(frameworks))(
  "a browser signs in to an application of %s with a provider, and a forged callback is refused",
  { timeout: 60_000 },
  async (_name, mount) => {
    const made: SignIn[] = [];
    const origin = await mount(() => {
      const [auth] = made;
      if (auth === undefined) throw new Error("not yet");
      return auth;
    });
    const redirectUri = `${origin}/callback`;
    const server = await startProvider(() => ({
      pkce: { required: () => true },
      clients: [{ client_id: "app", client_secret: clientSecret, redirect_uris: [redirectUri] }],
    }));
    onTestFinished(() => server.close());
    const provider = signInProvider(openIdConnect(server.issuer), {
      clientId: "app",
      clientSecret,
      redirectUri,
    });
    made.push(
      signIn(provider, {
        secret,
        onSignedIn: ({ profile, returnTo }) =>
          new Response(null, {
            status: 303,
            headers: {
              location: returnTo ?? "/",
              "set-cookie": `user=${profile.id}; Path=/; HttpOnly`,
            },
          }),
      }),
    );
    const page = await openPage();
    await page.goto(`${origin}/login?returnTo=/account`);
    await page.waitForURL(`${origin}/account`);
    // Cookies of the provider come along, since those of one host are for all of its ports.
    const cookies = await page.locator("body").textContent();
    expect(cookies).toContain("user=user-1");
    expect(cookies).not.toContain("sign-in-");

    const forged = await page.goto(`${redirectUri}?code=stolen&state=${"x".repeat(43)}`);
    expect(forged?.status()).toBe(400);
    expect(await page.getByRole("heading").textContent()).toBe("Sign-in failed");
  },
);
