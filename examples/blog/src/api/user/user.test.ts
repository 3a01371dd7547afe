import { testService } from "@fetchwork/service/test";
import { expect, it } from "vitest";
import { app } from "../../app.ts";

it("others see neither the email of a user nor what follows from it", async () => {
  const service = await testService(app);
  const [ada, bob] = [await service.as("user"), await service.as("user")];
  const { data: own } = await ada.auth.me();
  expect(own.email).toContain("@example.com");
  const { data: shown } = await bob.users.show(own.id);
  expect(shown).toEqual({ id: own.id, name: null, picture: null });
});

it("a user who signs out everywhere has no session", async () => {
  const service = await testService(app);
  const ada = await service.as("user");
  await ada.auth.signOutEverywhere();
  await expect(ada.auth.me()).rejects.toMatchObject({ status: 401 });
});
