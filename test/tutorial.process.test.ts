import { existsSync } from "node:fs";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { codeBlocks } from "../scripts/markdown.ts";
import { freePort } from "./free-port.ts";
import { answers, pasted, runsDeployed, startDev } from "./pasted.ts";

const root = join(import.meta.dirname, "..");

it("the tutorial works as pasted", { timeout: 900_000 }, async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "tutorial-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const library = join(folder, "library");
  const origin = `http://localhost:${await freePort()}`;
  const text = (await readFile(join(root, "docs/tutorial.md"), "utf8"))
    .replaceAll("../library", library)
    .replaceAll("http://localhost:9000", origin);
  const [make = "", add = "", dev = "", ask = "", review = "", edit = "", ...deploy] = codeBlocks(
    text,
    "sh",
  );
  expect(dev.trim()).toBe("npm run dev");

  await pasted(make, root);
  await pasted(add, library);
  startDev(library, origin);
  await answers(`${origin}/books`);
  const asked = await pasted(ask, library);
  expect(asked).toContain('"name":"Mary Shelley"');
  expect(asked.trim().split("\n").at(-1)).toMatch(
    /\[\{"id":"[^"]+","title":"Frankenstein","year":1818\}\]$/,
  );

  const begin = performance.now();
  await pasted(review.split("\n", 1).join(""), library);
  await answers(`${origin}/reviews`);
  console.log(`from fetchwork add to an answer: ${Math.round(performance.now() - begin)} ms`);
  await pasted(review.split("\n").slice(1).join("\n"), library);
  await pasted(edit, library);
  expect(await readFile(join(library, "src/api/review/model.ts"), "utf8")).toContain(".max(5)");
  await pasted(`npm test\n${deploy.join("\n")}`, library);

  const deployed = join(folder, "deployed");
  await runsDeployed(text, { project: library, deployed, data: "/var/lib/library" });
  expect(existsSync(join(deployed, "library.db"))).toBe(true);
});
