import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { sign } from "../../src/signature/index.ts";
import { programDeliveries, programJournal } from "./octokit-deliveries.ts";
import {
  events,
  fetchHandler,
  journal,
  replayPush,
  startServer,
  toEventName,
} from "./octokit-program.ts";

const secret = "It's a Secret to Everybody";

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
  for (const [name, payload, status] of programDeliveries) {
    expect(await send(name, payload)).toBe(status);
  }
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
  expect(journal.toSorted()).toEqual(programJournal.toSorted());
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
