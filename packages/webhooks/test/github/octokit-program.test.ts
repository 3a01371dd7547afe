import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { sign } from "../../src/signature/index.ts";
import {
  events,
  fetchHandler,
  journal,
  replayPush,
  startServer,
  toEventName,
} from "./octokit-program.ts";

const secret = "It's a Secret to Everybody";
const repository = { full_name: "octo/hello" };
const opened = { action: "opened", issue: { number: 7, title: "Bug", state: "open" }, repository };

async function requestOf(name: string, payload: object): Promise<RequestInit> {
  const body = JSON.stringify(payload);
  const headers = {
    "content-type": "application/json",
    "x-github-event": name,
    "x-github-delivery": "d-1",
    "x-hub-signature-256": await sign(secret, body),
  };
  return { method: "POST", headers, body };
}

afterEach(() => journal.splice(0));

/**
 * What the program did with @octokit/webhooks 14.2.0, which reports an error after all handlers.
 */
const before: readonly string[] = [
  "d-1 opened 7: Bug",
  "issues opened in octo/hello",
  "any issues",
  "pushed to refs/heads/main",
  "issues labeled in octo/hello",
  "any issues",
  "error of issues d-1",
  "failed: no labels, please",
];

it("A program for @octokit/webhooks receives deliveries with only its import changed", async () => {
  const { server } = startServer(secret);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/api/github/webhooks`;
  const send = async (name: string, payload: object): Promise<number> => {
    const response = await fetch(url, await requestOf(name, payload));
    await response.text();
    return response.status;
  };
  expect(await send("issues", opened)).toBe(200);
  expect(await send("push", { ref: "refs/heads/main", repository })).toBe(200);
  expect(await send("issues", { ...opened, action: "labeled" })).toBe(500);
  server.close();
  expect(journal).toEqual([
    "d-1 opened 7: Bug",
    "issues opened in octo/hello",
    "any issues",
    "pushed to refs/heads/main",
    "issues labeled in octo/hello",
    "error of issues d-1",
    "failed: no labels, please",
    "any issues",
  ]);
  expect(journal.toSorted()).toEqual(before.toSorted());
});

it("A program for @octokit/webhooks keeps its web middleware with a transform", async () => {
  const respond = fetchHandler(secret);
  const url = "http://127.0.0.1/api/github/webhooks";
  const push = await requestOf("push", { ref: "refs/heads/main", commits: [{}, {}] });
  const response = await respond(new Request(url, push));
  expect([response.status, journal]).toEqual([200, ["worker: 2 commits"]]);
});

it("A program for @octokit/webhooks keeps its event handler and its event names", async () => {
  await replayPush({ id: "1", name: "push", payload: { after: "c0ffee" } as never });
  expect(journal).toEqual(["replayed c0ffee"]);
  expect(toEventName("issues.opened")).toBe("issues.opened");
  expect(() => toEventName("isues")).toThrow(TypeError);
  expect(events).toContain("github_app_authorization");
});
