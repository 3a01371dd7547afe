import { describe, it } from "vitest";
import { openApi } from "./api-client.ts";
import { raceForEmail, raceToUpdate } from "./races.ts";

describe("64 clients at the same time", () => {
  it("register one email once", async () => {
    const { origin } = await openApi("socket");
    await raceForEmail([origin]);
  });

  it("change one article one after the other", async () => {
    const { origin } = await openApi("socket");
    await raceToUpdate([origin]);
  });
});
