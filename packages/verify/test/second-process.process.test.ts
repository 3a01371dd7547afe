import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { ShownRequest } from "../src/finding.ts";
import { SecondProcess } from "../src/world/second-process.ts";
import { removableNotes } from "./removable-notes.ts";

it("SecondProcess takes a status 204 without a body as a response", async () => {
  const folder = await mkdtemp(join(tmpdir(), "verify-second-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const served = {
    module: join(import.meta.dirname, "removable-notes.ts"),
    service: removableNotes.name,
    database: `sqlite:${join(folder, "notes.db")}`,
    settings: {},
  };
  await using second = new SecondProcess(served, join(folder, "compiled"));
  const send = async (request: ShownRequest): Promise<Response> => {
    const response = await second.handle({ caller: { token: undefined }, request, changes: 10 });
    return response ?? Response.error();
  };
  const created = await send({ method: "POST", path: "/notes", body: { text: "a" } });
  const { id } = (await created.json()) as { readonly id: string };
  const removed = await send({ method: "DELETE", path: `/notes/${id}` });
  expect([removed.status, await removed.text()]).toEqual([204, ""]);
  const again = await send({ method: "DELETE", path: `/notes/${id}` });
  expect(again.status).toBe(404);
}, 60_000);
