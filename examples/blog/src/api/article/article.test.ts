import { testService } from "@fetchwork/service/test";
import { describe, expect, it } from "vitest";
import { app } from "../../app.ts";
import { article } from "./model.ts";

describe("articles", () => {
  it("are created, shown, changed and deleted by callers who may", async () => {
    const service = await testService(app);
    const anyone = service.client;
    const user = await service.as("user");
    const sample = await service.sample(article);
    const { data } = await user.articles.create(sample);
    const { data: shown } = await anyone.articles.show(data.id);
    expect(shown.id).toBe(data.id);
    const change = await service.sample(article);
    const { data: changed } = await user.articles.update(data.id, change);
    expect(changed).toMatchObject(change);
    await user.articles.remove(data.id);
    await expect(anyone.articles.show(data.id)).rejects.toMatchObject({ status: 404 });
  });

  it("are kept for users and the author", async () => {
    const service = await testService(app);
    const anyone = service.client;
    const user = await service.as("user");
    const other = await service.as("user");
    const sent = await service.sample(article);
    const { data } = await user.articles.create(sent);
    await expect(anyone.articles.create(sent)).rejects.toMatchObject({ status: 401 });
    await expect(anyone.articles.update(data.id, sent)).rejects.toMatchObject({ status: 401 });
    await expect(anyone.articles.remove(data.id)).rejects.toMatchObject({ status: 401 });
    await expect(other.articles.update(data.id, sent)).rejects.toMatchObject({ status: 403 });
    await expect(other.articles.remove(data.id)).rejects.toMatchObject({ status: 403 });
  });
});
