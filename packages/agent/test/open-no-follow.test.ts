import { constants } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openNoFollow } from "../src/workspace/open-no-follow.ts";

it.each([
  ["here", undefined],
  ["as on Windows, which has no flag for it", 0],
])("openNoFollow opens files, and no link, %s", async (_, noFollow) => {
  const folder = await mkdtemp(join(tmpdir(), "open-no-follow-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const options = noFollow === undefined ? {} : { noFollow };
  await writeFile(join(folder, "secret"), "text");
  await symlink(join(folder, "secret"), join(folder, "link"));
  await using file = await openNoFollow(join(folder, "secret"), constants.O_RDONLY, options);
  expect(await file.readFile("utf8")).toBe("text");
  const link = openNoFollow(join(folder, "link"), constants.O_RDONLY, options);
  await expect(link).rejects.toMatchObject({ code: "ELOOP" });
  const made = openNoFollow(join(folder, "new"), constants.O_CREAT | constants.O_RDWR, {
    ...options,
    mode: 0o600,
  });
  await (await made).close();
});
