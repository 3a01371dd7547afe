import { strict as assert } from "node:assert";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { Client } from "@fetchwork/http";
import { join } from "./accounts.ts";
import { askAgent } from "./agent.ts";
import { apiAt } from "./api.ts";
import { find, remove, retitle, write } from "./articles.ts";
import { providerName, startBlog, type Blog } from "./blog.ts";
import { listen } from "./front-door.ts";
import { getAgain, getCompressed, guess, preflight } from "./middlewares.ts";
import { useNotes } from "./notes.ts";
import { startOpenIdProvider } from "./openid-provider.ts";
import { addResource, makeProject, startProject } from "./project.ts";
import { compareDeliveries, forge, startReceiver, subscribe } from "./receiver.ts";
import { getAccessToken, redirectUri, signInAtBlog } from "./sign-in.ts";
import type { Steps } from "./steps.ts";

/** What the tour is started with. */
export interface TourOptions {
  /** File with the answers of the agent. */
  readonly transcript: string;
}

/** What all steps share. */
interface Stage {
  readonly steps: Steps;
  readonly client: Client;
  readonly folder: string;
  readonly masterKey: string;
}

/** Uses all packages together, one step after another. */
export async function tour(steps: Steps, { transcript }: TourOptions): Promise<void> {
  const { step, atEnd } = steps;
  const folder = await mkdtemp(joinPath(tmpdir(), "fetchwork-tour-"));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  atEnd(removeFolder);
  // When the tour is cut off.
  process.once("exit", removeFolder);
  const client = new Client({ timeout: 10_000 });
  atEnd(() => client.close());
  const stage = { steps, client, folder, masterKey: crypto.randomUUID() };

  const { blog, issuer } = await startServers(stage);
  const { origin } = blog;
  const user = await step(
    "Ada signs in at the blog with the provider, through every redirect",
    () => signInAtBlog(origin),
  );
  const token = await step("the token client gets an access token: code and PKCE", () =>
    getAccessToken(issuer, { clientId: "tour", audience: origin }),
  );
  const api = apiAt(origin, token);
  await step("the blog takes the provider's access token for Ada's", async () => {
    const me = await client.send(api("GET /users/me"));
    assert.deepEqual([me.statusCode, me.json<{ id: string }>().id], [200, user.id]);
  });

  const admin = { email: "admin@example.com", password: "one-two-three", role: "admin" } as const;
  const hooks = await step("an admin subscribes a receiver of webhooks", async () => {
    const receiver = await startReceiver();
    atEnd(() => receiver.close());
    const adminToken = await join(client, { origin, masterKey: stage.masterKey, user: admin });
    const subscription = await subscribe(client, { origin, token: adminToken, receiver });
    return { origin, token: adminToken, receiver, subscription };
  });
  await step("the receiver refuses what nobody has signed", () => forge(client, hooks.receiver));

  await useBlog(stage, { api, origin });
  await useAgent(stage, transcript);
  await step("all changes came as webhooks, the first one at its second try", () =>
    compareDeliveries(client, {
      ...hooks,
      events: ["article.created", "article.created", "article.updated", "article.removed"],
    }),
  );
}

async function startServers({
  steps: { step, atEnd },
  folder,
  masterKey,
}: Stage): Promise<{ readonly blog: Blog; readonly issuer: string }> {
  const door = await listen();
  atEnd(() => door.close());
  const clientSecret = crypto.randomUUID();
  const { issuer } = await step("an OpenID provider starts", async () => {
    const blogUri = `${door.origin}/auth/${providerName}/callback`;
    const provider = await startOpenIdProvider({
      clients: [
        { id: "blog", redirectUri: blogUri, secret: clientSecret },
        { id: "tour", redirectUri },
      ],
    });
    atEnd(() => provider.close());
    return provider;
  });
  const blog = await step("the blog starts on a new database", async () => {
    const started = await startBlog({
      door,
      folder,
      masterKey,
      issuer,
      clientId: "blog",
      clientSecret,
    });
    atEnd(() => started.close());
    return started;
  });
  return { blog, issuer };
}

async function useBlog(
  { steps: { step }, client }: Stage,
  { api, origin }: { readonly api: ReturnType<typeof apiAt>; readonly origin: string },
): Promise<void> {
  const content = "It weaves algebraic patterns.\n".repeat(100).trim();
  const article = await step("Ada writes two articles", async () => {
    await write(client, api, { title: "On looms", content });
    return write(client, api, { title: "On engines", content });
  });
  const { id } = article;
  await step("anybody finds them by a word", async () => {
    const found = await find(client, apiAt(origin), "algebraic");
    assert.deepEqual(
      found.map(({ title }) => title),
      ["On engines", "On looms"],
    );
  });
  await step("conditional GET: 304 for what is here already", () => getAgain(client, api, id));
  await step("compression: Content-Encoding gzip, less than half of the bytes", () =>
    getCompressed(client, api),
  );
  await step("CORS: the preflight of another origin is answered", () => preflight(client, api));
  await step("Ada changes a title with If-Match; the old version is refused with 412", () =>
    retitle(client, api, { id, title: "Notes on the Engine" }),
  );
  await step("Ada removes the article", () => remove(client, api, id));
  // The admin has signed in once.
  await step("rate limit: 429 and Retry-After for one sign-in too many", () =>
    guess(client, apiAt(origin), 1),
  );
}

async function useAgent(
  { steps: { step, atEnd }, client, folder, masterKey }: Stage,
  transcript: string,
): Promise<void> {
  const wish = await step(
    "the agent describes a resource (replayed: scripted by a person, no model)",
    () => askAgent(transcript, joinPath(folder, "wish")),
  );
  const project = await step("`fetchwork new` makes a project", () => makeProject(folder));
  await step("`fetchwork add` adds the resource to it", () => addResource(project, wish));
  const notes = await step("the project starts", async () => {
    const started = await startProject(project, masterKey);
    atEnd(() => started.close());
    return started;
  });
  await step("its API creates, finds and removes a note, and refuses a wrong one", () =>
    useNotes(client, notes.origin, masterKey),
  );
}
