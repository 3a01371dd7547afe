import type { Store } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import {
  createApi,
  createAuthentication,
  createResourceController,
  resourceRoutes,
} from "@fetchwork/rest";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { propertyRuns } from "../../../documents/test/property-runs.ts";
import { memoryStore } from "../../../rest/test/api-client.ts";
import { operationsOf, requestsFor } from "../../../rest/test/contract/requests.ts";
import { reset, sendPlan, snapshot, type Sender } from "../../../rest/test/contract/send.ts";
import { makeWholeApi } from "../../../rest/test/contract/whole-api.ts";
import { articleController } from "./ejected/article/controller.ts";
import { noteController } from "./ejected/note/controller.ts";
import { orderController } from "./ejected/order/controller.ts";
import { events, order, part } from "./ejected/order/model.ts";
import { personController } from "./ejected/person/controller.ts";
import { vaultController } from "./ejected/vault/controller.ts";

const written = {
  person: personController,
  article: articleController,
  note: noteController,
  vault: vaultController,
};

/** Puts numbers in the place of identifiers, times and what is made of them, in the order in which they come. */
function createLeveller(): (text: string) => string {
  const numbers = new Map<string, string>();
  return (text) =>
    text
      .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, (id) => {
        const number = numbers.get(id) ?? `#${numbers.size}`;
        numbers.set(id, number);
        return number;
      })
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replace(/W\/\\?"[\w-]{27}\\?"/g, "W/<hash>")
      .replace(/after=[\w%-]+&/g, "after=<cursor>&")
      // Answers that are kept for repetitions, encrypted.
      .replace(/"until":\d+/g, '"until":"<time>"')
      .replace(/"answer":"[\w+/=]+"/g, '"answer":"<sealed>"')
      .replace(/"fingerprint":"[\da-f]{64}"/g, '"fingerprint":"<hash>"')
      .replace(/ey[\w-]+\.[\w-]+\.[\w-]+/g, "<token>");
}

type Level = ReturnType<typeof createLeveller>;

/** All of an answer that a client sees. */
function shown(level: Level, { status, headers }: Response, text: string): string {
  return level(JSON.stringify([status, [...headers].map(String).toSorted(), text]));
}

describe("an API with ejected handlers", () => {
  it("has the same OpenAPI document", async () => {
    const [one, other] = [
      await makeWholeApi(await memoryStore()),
      await makeWholeApi(await memoryStore(), written),
    ];
    expect(JSON.stringify(other.api.openApi)).toBe(JSON.stringify(one.api.openApi));
  });

  it("returns the same response to every caller of every operation and stores the same documents", async () => {
    const sides = await Promise.all(
      [undefined, written].map(async (controllers) => {
        const store: Store = await memoryStore();
        const sender: Sender = { ...(await makeWholeApi(store, controllers)), ids: new Map() };
        return { store, sender, level: createLeveller() };
      }),
    );
    const [first] = sides;
    const operations = operationsOf(first?.sender.api.openApi ?? { paths: {}, components: {} });
    const statuses = new Set<number>();
    let turn = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(...operations.map(requestsFor)), async (plan) => {
        const isFresh = turn % 10 === 0;
        turn += 1;
        const answers: unknown[] = [];
        for (const side of sides) {
          const { store, sender } = side;
          if (isFresh) {
            await reset(sender, store, turn);
            side.level = createLeveller();
          }
          const answer = await sendPlan(sender, plan);
          if (answer) statuses.add(answer.response.status);
          answers.push([
            answer && shown(side.level, answer.response, answer.text),
            side.level(await snapshot(store)),
          ]);
        }
        expect(answers[1]).toEqual(answers[0]);
      }),
      { numRuns: propertyRuns(1_500, 4_000), seed: 20_261_121, endOnFailure: true },
    );
    expect([...statuses]).toEqual(
      expect.arrayContaining([200, 201, 204, 304, 400, 401, 403, 404, 409, 412]),
    );
  }, 60_000);
});

const users = [
  { id: "ann", role: "user" },
  { id: "bob", role: "user" },
  { id: "root", role: "admin" },
].map((user) => ({ ...user, passwordHash: "", sessionVersion: 1 }));

/** An API of orders, and what it answers to requests one after the other. */
async function openOrders(controller: typeof orderController) {
  const masterKey = "m".repeat(32);
  const authentication = createAuthentication({
    masterKey,
    jwtSecret: "j".repeat(32),
    accounts: {
      byId: async (id) => users.find((user) => user.id === id),
      byEmail: async () => undefined,
    },
  });
  const reported: string[] = [];
  const api = createApi({
    title: "Shop",
    version: "1.0.0",
    store: await memoryStore(),
    authentication,
    reportError: (error) => void reported.push(String(error)),
    routes: [
      ...resourceRoutes(order, controller),
      ...resourceRoutes(part, createResourceController(part)),
    ],
  });
  const tokens = new Map([
    ["master", masterKey],
    ["bad", "x"],
  ]);
  for (const user of users) tokens.set(user.id, await authentication.tokens.issue(user));
  const level = createLeveller();
  const ids: string[] = [];
  const tags: string[] = [];
  return {
    api,
    reported,
    async send(line: string): Promise<string> {
      const [, who = "", method = "", path = "", more = ""] =
        /^(\S+) (\S+) (\S+) ?(.*)$/.exec(line) ?? [];
      const named = (text: string): string =>
        text
          .replace(/@(\d+)/g, (_, index: string) => ids[Number(index)] ?? "none")
          .replace(/%last/g, () => tags.at(-1) ?? "");
      const [body = "", condition] = more.split(" if ");
      const token = tokens.get(who);
      const request = new Request(`http://localhost${named(path)}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === "" ? {} : { "content-type": "application/json" }),
          ...(condition?.startsWith("none ") ? { "if-none-match": named(condition.slice(5)) } : {}),
          ...(condition?.startsWith("match ") ? { "if-match": condition.slice(6) } : {}),
        },
        body: body === "" ? null : named(body),
      });
      const response = await api.handler(request, createContext(request));
      const text = await response.text();
      tags.push(response.headers.get("etag") ?? "");
      if (response.status === 201) ids.push((JSON.parse(text) as { id: string }).id);
      const next = /after=([\w%-]+)[^>]*>; rel="next"/.exec(response.headers.get("link") ?? "");
      if (next?.[1]) ids.push(next[1]);
      return shown(level, response, text);
    },
  };
}

/** Who sends what: `@0` is the first identifier, or cursor, that an answer gave, `%last` the tag of the last answer. */
const requests = `
nobody POST /shop/orders {"code":"a"}
bad POST /shop/orders {"code":"a"}
ann POST /shop/orders {"pin":7}
ann POST /shop/orders {"code":"no"}
ann POST /parts {"label":"wheel"}
ann POST /parts {"label":"frame"}
ann POST /shop/orders {"code":"alpha","parts":["@0"],"pin":"1234","stage":"paid","maker":"bob","id":"x","version":9,"size":7,"extra":1}
ann POST /shop/orders {"code":"alpha"}
ann POST /shop/orders {"code":"beta","parts":["@0","missing"],"parent":"gone"}
ann POST /shop/orders {"code":"beta","parent":"@2","parts":["@0","@1"],"remark":null}
bob POST /shop/orders {"code":"open","place":{"latitude":1,"longitude":2}}
bob POST /shop/orders {"code":"late"}
root POST /shop/orders {"code":"hidden"}
master POST /shop/orders {"code":"zeta"}
nobody GET /shop/orders
ann GET /shop/orders
ann GET /shop/orders  if none %last
root GET /shop/orders?size=2
root GET /shop/orders?size=2&page=2&populate=parts,parent.parts,children
root GET /shop/orders?size=2&after=
root GET /shop/orders?size=2&after=@7
ann GET /shop/orders?after=rubbish
ann GET /shop/orders?q=alp
ann GET /shop/orders?q=refused
ann GET /shop/orders?long=yes&code=open
ann GET /shop/orders?long=no&nothing=1&populate=maker
ann GET /shop/orders?near=1,2&max_distance=10
ann GET /shop/orders?fields=code,seen
ann GET /shop/orders?trash=only
nobody GET /shop/orders?trash=only
root GET /shop/orders?trash=only
nobody GET /shop/orders/@2
nobody GET /shop/orders/@4
ann GET /shop/orders/nothing
ann GET /shop/orders/@2?populate=children,parts
ann GET /shop/orders/@3?populate=parent.parts
ann GET /shop/orders/@3?populate=other
ann GET /shop/orders/@2?fields=code
ann GET /shop/orders/@2?fields=-code
ann GET /shop/orders/@2?fields=nothing
ann GET /shop/orders/@3?fields=code&populate=parent.parts
ann GET /shop/orders/@3  if none "1"
ann GET /shop/orders/@3  if match "7"
bob PUT /shop/orders/@2 {"code":"stolen"}
ann PUT /shop/orders/@2 {"remark":"new","pin":"4321","stage":"paid","maker":"bob"}
ann PUT /shop/orders/@2 {"remark":null,"parent":null} if match "2"
ann PUT /shop/orders/@2 {"remark":"late"} if match "2"
ann PUT /shop/orders/@2 {"parent":"nowhere"}
ann PUT /shop/orders/@2 {"code":"beta"}
ann PUT /shop/orders/@2 {"code":"no"}
ann PUT /shop/orders/@2 {"pin":"much too long"}
ann PATCH /shop/orders/@2 {"remark":null,"pin":null,"extra":{"deep":[1]}}
ann PATCH /shop/orders/@2 {"code":null}
ann PATCH /shop/orders/none {"code":"x"}
root DELETE /shop/orders/@2
ann DELETE /shop/orders/@3  if match "9"
bob DELETE /shop/orders/@3
ann DELETE /shop/orders/@3
ann DELETE /shop/orders/@2
root GET /shop/orders?trash=with
bob POST /shop/orders/@2/restore
nobody POST /shop/orders/@2/restore
ann POST /shop/orders/@3/restore
ann POST /shop/orders/@2/restore  if match "1"
ann POST /shop/orders/@2/restore
ann POST /shop/orders/@3/restore
ann POST /shop/orders/none/restore
ann POST /shop/orders/bulk {"operations":[{"op":"create","body":{"code":"one"}},{"op":"update","id":"@4","body":{"remark":"x"}}]}
ann POST /shop/orders/bulk {"operations":[{"op":"create","body":{"code":"late"}},{"op":"patch","id":"@2","body":{"remark":"y"}}]}
ann POST /shop/orders/bulk {"operations":[{"op":"create","body":{"code":"one"}},{"op":"patch","id":"@2","body":{"remark":"y"}},{"op":"remove","id":"@3"}]}
ann POST /shop/orders/bulk {"operations":[{"op":"create","body":{"code":"two"}},{"op":"remove","id":"@2","version":1}]}
ann POST /shop/orders {"code":"kappa","parts":["@0"]}
ann DELETE /shop/orders/@9
ann DELETE /parts/@0
ann POST /shop/orders/@9/restore
ann PUT /shop/orders/@2 {"code":"paid"}
ann DELETE /shop/orders/@2
root GET /shop/orders?sort=-createdAt
`
  .split("\n")
  .filter(Boolean);

describe("an ejected resource with every feature of a definition", () => {
  it("responds alike, reports alike and calls the same hooks", async () => {
    const sides = [];
    for (const controller of [createResourceController(order), orderController]) {
      events.length = 0;
      const { api, reported, send } = await openOrders(controller);
      const answers: string[] = [];
      for (const line of requests) answers.push(`${line} -> ${await send(line)}`);
      sides.push({
        answers,
        events: [...events],
        reported,
        reference: JSON.stringify(api.openApi),
      });
    }
    const [own, other] = sides;
    expect(other?.answers).toEqual(own?.answers);
    expect(other).toEqual(own);
    // Each hook was called, and the requests were not all refused.
    expect(new Set(own?.events.map((event) => event.split(" ")[0])).size).toBe(12);
    const counts = new Map<string, number>();
    for (const answer of own?.answers ?? []) {
      const status = /-> \[(\d+)/.exec(answer)?.[1] ?? "";
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    expect([...counts.keys()].toSorted()).toEqual([
      "200",
      "201",
      "204",
      "304",
      "400",
      "401",
      "403",
      "404",
      "409",
      "412",
    ]);
  });
});
