import { expect, it } from "vitest";
import { generateCode } from "../src/calls/generate-code.ts";
import { openAICompatible } from "../src/models/http-providers.ts";
import { startModelServer } from "./model-server.ts";

const source = "const a = 1;\n";

it("writeSource makes no file of a call that is cut, empty or several", async () => {
  const server = await startModelServer({
    answers: [
      { match: ["several files"], arguments: { content: source } },
      {
        match: ["file was empty"],
        arguments: { content: "const a = 1;\n" },
        calls: [{ name: "write_file", arguments: { content: "const b = 1;\n" } }],
      },
      { match: ["no JSON"], arguments: { content: " " } },
      { arguments: { content: source }, fault: { kind: "malformed-tool" } },
    ],
  });
  const provider = openAICompatible({ baseUrl: server.baseUrl });
  await expect(generateCode("p", "d", "a.js", { provider })).rejects.toThrow("several files");
  expect(server.requests).toHaveLength(3);
  await server.close();
});
