import { mockTransport } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type ApiClient, createClient } from "../src/client/index.ts";
import { resourceRoutes } from "../src/http/resource-routes.ts";
import { defineResource } from "../src/resource/define-resource.ts";
import { openApi } from "./api-client.ts";

const location = z.object({ latitude: z.number(), longitude: z.number() });

const place = defineResource({
  name: "place",
  path: "/places",
  schema: z.object({ name: z.string(), location }),
  geo: "location",
  softDelete: true,
  groups: ["name"],
  access: { list: "public", create: "public" },
});
const routes = resourceRoutes(place);

async function openPlaces(): Promise<ApiClient<typeof routes>> {
  const { api } = await openApi({ routes });
  const client = createClient<typeof routes>({
    baseUrl: "http://api.example",
    transport: mockTransport(api.handler),
  });
  for (const [name, latitude] of [
    ["Near", 0],
    ["Middle", 0.01],
    ["Far", 1],
  ] as const) {
    await client.places.create({ name, location: { latitude, longitude: 0 } });
  }
  return client;
}

describe("the typed client", () => {
  it("lists what is near to a place, and within distances", async () => {
    const { places } = await openPlaces();
    const names = async (list: Promise<{ readonly data: readonly { readonly name: string }[] }>) =>
      (await list).data.map(({ name }) => name);
    expect(await names(places.list({ near: "0,0" }))).toEqual(["Near", "Middle", "Far"]);
    expect(await names(places.list({ near: [1, 0], limit: 1 }))).toEqual(["Far"]);
    expect(await names(places.list({ near: "0,0", min_distance: 100 }))).toEqual(["Middle", "Far"]);
    expect(await names(places.list({ near: "0,0", max_distance: 100 }))).toEqual(["Near"]);
    const pages: string[] = [];
    for await (const { data } of places.pages({ near: [0, 0], limit: 2 })) {
      pages.push(data.map(({ name }) => name).join());
    }
    expect(pages).toEqual(["Near,Middle", "Far"]);
  });

  it("queries what is near to a place", async () => {
    const { places } = await openPlaces();
    const { data, next } = await places.query({ near: [0, 0], max_distance: 5_000, limit: 1 });
    expect(data.map(({ name }) => name)).toEqual(["Near"]);
    const after = await places.query(next);
    expect(after.data.map(({ name }) => name)).toEqual(["Middle"]);
  });

  it("asks for removed documents, which are for admins", async () => {
    const { places } = await openPlaces();
    await expect(places.list({ trash: "only" })).rejects.toMatchObject({ status: 401 });
    await expect(places.query({ trash: "with" })).rejects.toMatchObject({ status: 401 });
  });

  it("refuses what these parameters do not take, and groups that are near", () => {
    const wrong = ({ places }: ApiClient<typeof routes>): unknown[] => [
      // @ts-expect-error -- a place is two numbers
      places.list({ near: [1] }),
      // @ts-expect-error -- a distance is a number
      places.list({ near: "1,2", max_distance: "far" }),
      // @ts-expect-error -- a query has a place as numbers
      places.query({ near: "1,2" }),
      // @ts-expect-error -- neither one
      places.list({ trash: "all" }),
      // @ts-expect-error -- groups take no place
      places.groups({ near: "1,2" }),
    ];
    expect(wrong).toBeTypeOf("function");
  });
});
