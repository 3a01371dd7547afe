import { openStore } from "@fetchwork/documents";
import { createSender, type Sender, type SenderOptions } from "@fetchwork/webhooks/sender";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let stop: () => Promise<void>;
let makeSender: (options?: Partial<SenderOptions>) => Sender;

beforeEach(async () => {
  const store = await openStore("sqlite::memory:");
  stop = () => store.close();
  makeSender = (options) =>
    createSender({ store, allowHttp: true, allowPrivate: true, ...options });
});

afterEach(() => stop());

describe("endpoints", () => {
  it.each([
    [{ url: "http://example.com" }, "ERR_WEBHOOKS_TARGET"],
    [{ url: "https://a:b@example.com" }, "ERR_WEBHOOKS_TARGET"],
    [{ url: "https://169.254.169.254/" }, "ERR_WEBHOOKS_TARGET"],
    [{ url: "https://example.com", events: [] }, "ERR_WEBHOOKS_OPTION"],
    [{ url: "https://example.com", events: ["a b"] }, "ERR_WEBHOOKS_OPTION"],
    [{ url: "https://example.com", description: "x".repeat(501) }, "ERR_WEBHOOKS_OPTION"],
    [{ url: "https://example.com", secret: "" }, "ERR_WEBHOOKS_SECRET"],
    [{ url: "https://example.com", event: ["order"] }, "ERR_WEBHOOKS_OPTION"],
  ])("refuses %j", async (input, code) => {
    const sender = makeSender({ allowHttp: false, allowPrivate: false });
    await expect(sender.endpoints.create(input)).rejects.toMatchObject({ code });
    expect(await sender.endpoints.list()).toEqual([]);
  });

  it("endpoints.create() and endpoints.update() refuse a list of secrets", async () => {
    const { endpoints } = makeSender();
    const url = "https://example.com/";
    const { id, version } = await endpoints.create({ url });
    const problem = {
      code: "ERR_WEBHOOKS_SECRET",
      message: "a secret must be a non-empty string",
    };
    const secret = ["a", "b"] as never;
    await expect(endpoints.update(id, { secret })).rejects.toMatchObject(problem);
    await expect(endpoints.create({ url, secret })).rejects.toMatchObject(problem);
    expect(await endpoints.list()).toMatchObject([{ id, version }]);
  });

  it("shows the secret once", async () => {
    const { endpoints } = makeSender();
    const { id, secret } = await endpoints.create({
      url: "https://example.com/",
      description: "d",
    });
    expect(secret).toMatch(/^whsec_[A-Za-z\d+/]{43}=$/);
    expect(await endpoints.get(id)).not.toHaveProperty("secret");
    expect(JSON.stringify(await endpoints.list())).not.toContain(secret);
  });

  it("changes, disables, enables and removes", async () => {
    const { endpoints } = makeSender();
    const { id } = await endpoints.create({ url: "https://example.com/" });
    expect(await endpoints.update(id, { events: ["a"] })).toMatchObject({ events: ["a"] });
    expect(await endpoints.update(id, { status: "disabled" })).toMatchObject({
      status: "disabled",
      disabledReason: "manual",
    });
    expect(await endpoints.update(id, { status: "enabled" })).toMatchObject({
      status: "enabled",
      disabledReason: undefined,
    });
    expect(await endpoints.remove(id)).toBe(true);
    expect(await endpoints.get(id)).toBeUndefined();
    expect(await endpoints.update(id, { events: ["a"] })).toBeUndefined();
    expect(await endpoints.remove(id)).toBe(false);
  });

  it("changes fields and status in one change, and null removes what may be absent", async () => {
    const { endpoints } = makeSender();
    const { id, version } = await endpoints.create({ url: "https://example.com/", events: ["a"] });
    const change = { events: null, description: "d", status: "disabled" } as const;
    expect(await endpoints.update(id, change)).toMatchObject({
      events: undefined,
      description: "d",
      status: "disabled",
      disabledReason: "manual",
      version: version + 1,
    });
  });

  it("changes and removes only the version that ifVersion names", async () => {
    const { endpoints } = makeSender();
    const { id, version } = await endpoints.create({ url: "https://example.com/" });
    const first = { ifVersion: version };
    const changed = await endpoints.update(id, { description: "d" }, first);
    expect(changed).toMatchObject({ description: "d", version: version + 1 });
    const conflict = { code: "ERR_DOCUMENTS_VERSION" };
    await expect(endpoints.update(id, { description: "x" }, first)).rejects.toMatchObject(conflict);
    await expect(endpoints.update(id, { status: "enabled" }, first)).rejects.toMatchObject(
      conflict,
    );
    await expect(endpoints.update(id, { status: "disabled" }, first)).rejects.toMatchObject(
      conflict,
    );
    await expect(endpoints.remove(id, first)).rejects.toMatchObject(conflict);
    expect(await endpoints.get(id)).toEqual(changed);
    expect(await endpoints.remove(id, { ifVersion: version + 1 })).toBe(true);
  });

  it("lists them page by page in the order of their creation, and counts them", async () => {
    const { endpoints } = makeSender();
    const ids: string[] = [];
    for (const number of [1, 2, 3]) {
      ids.push((await endpoints.create({ url: `https://example.com/${number}` })).id);
    }
    const idsOf = async (query: object): Promise<readonly string[]> =>
      (await endpoints.list(query)).map(({ id }) => id);
    expect(await idsOf({})).toEqual(ids);
    expect(await idsOf({ limit: 2 })).toEqual(ids.slice(0, 2));
    expect(await idsOf({ limit: 2, offset: 2 })).toEqual(ids.slice(2));
    expect(await endpoints.count()).toBe(3);
  });

  it.each([{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { offset: -1 }, { limits: 3 }])(
    "rejects the list options %j",
    async (query) => {
      const { endpoints } = makeSender();
      const refusal = { code: "ERR_WEBHOOKS_OPTION" };
      await expect(endpoints.list(query)).rejects.toMatchObject(refusal);
    },
  );

  it("rejects a misspelt ifVersion, an unknown status and null for a required field", async () => {
    const { endpoints } = makeSender();
    const { id } = await endpoints.create({ url: "https://example.com/" });
    const refusal = { name: "WebhookUsageError" };
    const misspelt = { ifversion: 1 } as object;
    await expect(endpoints.update(id, {}, misspelt)).rejects.toMatchObject(refusal);
    await expect(endpoints.remove(id, misspelt)).rejects.toMatchObject(refusal);
    for (const change of [{ status: "paused" }, { url: null }, { secret: null }, { event: [] }]) {
      await expect(endpoints.update(id, change as object)).rejects.toMatchObject(refusal);
    }
  });
});
