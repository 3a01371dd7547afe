import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { readImages } from "../src/run/read-images.ts";
import { editScript } from "./edit-script.ts";
import { startModelServer, type ScriptedAnswer } from "./model-server.ts";
import { projectScript } from "./project-script.ts";

async function world(answers: readonly ScriptedAnswer[]) {
  const out = mkdtempSync(join(tmpdir(), "continue-"));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  const model = await startModelServer({ answers });
  onTestFinished(() => model.close());
  const provider = openAICompatible({ baseUrl: model.baseUrl, model: "scripted" });
  return { out, model, agent: createAgent({ provider, retry: { attempts: 1 } }) };
}

const png = Buffer.from("89504e470d0a1a0a0000000d", "hex");

it("an edit that continues goes on with the conversation of an earlier edit, and resumes that too", async () => {
  const more = { path: "a.js", search: "a = 2", replace: "a = 3" };
  const { out, model, agent } = await world([
    { match: ["Now three"], fault: { kind: "status", status: 500 }, times: 1 },
    ...editScript([more], ["Now three"]),
    ...editScript([{ path: "a.js", search: "a = 1", replace: "a = 2" }]),
  ]);
  writeFileSync(join(out, "a.js"), "export const a = 1;\n");
  await agent.edit({ request: "Make it two", out, runId: "e1" }).result;
  const next = agent.edit({ request: "Now three", out, runId: "e2", continues: "e1" });
  await expect(next.result).rejects.toMatchObject({ code: "ERR_AGENT_PROVIDER" });
  await agent.resume("e2", { out }).result;
  expect(readFileSync(join(out, "a.js"), "utf8")).toBe("export const a = 3;\n");
  const said = model.requests.at(-1)?.messages.join("\n") ?? "";
  expect(said).toMatch(/Make it two[^]*It is done\.[^]*Files may have changed since[^]*Now three/);
});

it("an edit that continues goes on after a run that wrote a program", async () => {
  const files = new Map([["a.js", "export const a = 1;\n"]]);
  const { out, model, agent } = await world([
    ...editScript([{ path: "a.js", search: "a = 1", replace: "a = 2" }]),
    ...projectScript(files),
  ]);
  await agent.run({ prompt: "a constant", out, runId: "r1" }).result;
  await agent.edit({ request: "Make it two", out, continues: "r1" }).result;
  expect(readFileSync(join(out, "a.js"), "utf8")).toBe("export const a = 2;\n");
  expect(model.requests.at(-1)?.messages.join("\n")).toMatch(/a constant[^]*Make it two/);
});

it.each(["nowhere", "../e1"])(
  "an edit that continues does not go on with the run %s",
  async (continues) => {
    const { out, agent } = await world([]);
    const code = /ERR_AGENT_(?:JOURNAL|OPTION)/;
    const edit = async () => agent.edit({ request: "x", out, continues }).result;
    await expect(edit()).rejects.toMatchObject({ code: expect.stringMatching(code) as string });
  },
);

it("an edit that continues shows pictures to the model, also after it was cut off", async () => {
  const { out, model, agent } = await world([
    { fault: { kind: "status", status: 500 }, times: 1 },
    ...editScript([{ path: "b.js", content: "export const b = 1;\n" }]),
  ]);
  const picture = join(out, "design.png");
  writeFileSync(picture, png);
  const edit = agent.edit({ request: "As drawn", out, runId: "e1", images: [picture] });
  await expect(edit.result).rejects.toMatchObject({ code: "ERR_AGENT_PROVIDER" });
  rmSync(picture);
  await agent.resume("e1", { out }).result;
  const shown = `data:image/png;base64,${png.toString("base64")}`;
  expect(model.requests.map(({ images }) => images)).toEqual([[shown], [shown], [shown]]);
});

it("an edit that continues refuses what is not a picture, or too much of them", async () => {
  const { out } = await world([]);
  const text = join(out, "a.png");
  writeFileSync(text, "no picture");
  const refused = { code: "ERR_AGENT_OPTION" };
  await expect(readImages([text])).rejects.toMatchObject(refused);
  await expect(readImages([join(out, "nowhere.png")])).rejects.toMatchObject(refused);
  const large = join(out, "large.png");
  writeFileSync(large, Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]));
  await expect(readImages([large, large])).rejects.toMatchObject(refused);
  await expect(readImages(Array<string>(11).fill(large))).rejects.toMatchObject(refused);
  expect(await readImages([large])).toMatchObject([{ mediaType: "image/png" }]);
});
