import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createSandbox } from "@fetchwork/agent";
import { editScript } from "../packages/agent/test/edit-script.ts";
import { startModelServer } from "../packages/agent/test/model-server.ts";
import { withIndex } from "../scripts/agent-live/back-end/start-project.ts";
import { inputSolutions } from "./back-end-tasks/input-solutions.ts";

const script = join(import.meta.dirname, "../scripts/agent-live/index.ts");
const level = await createSandbox().then(
  () => "sealed",
  () => (process.env["CI"] === "true" ? "sealed" : "process"),
);

function runScript(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const command = ["--conditions=@fetchwork/source", script, "--back-end", "--sandbox", level];
  // What npm needs of this environment, and none of its keys.
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(?:PATH|HOME|TMPDIR|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|npm_config_.*|https?_proxy|no_proxy)$/i.test(
      name,
    ),
  );
  const options = { env: { ...Object.fromEntries(kept), ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, [...command, ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

it("agent:live names the tasks of a back end for an unknown one", async () => {
  const { code, stderr } = await runScript(["lru-cache"]);
  expect(code).toBe(2);
  expect(stderr).toContain("unknown task lru-cache: expected one of own-notes, hidden-salary");
});

it("agent:live has a model change a project, and checks it", { timeout: 240_000 }, async () => {
  const right = inputSolutions["shipping-price"]?.right ?? {};
  const wrong = inputSolutions["safe-redirect"]?.right ?? {};
  const edits = (files: Readonly<Record<string, string>>) =>
    Object.entries(withIndex(files)).map(([path, content]) => ({ path, content }));
  const server = await startModelServer({
    answers: [
      ...editScript(edits(right), ["/shipping/:country"]),
      // A redirect that is not asked for by any mistake, but leads everywhere.
      ...editScript(
        edits(wrong).map(({ path, content }) => ({
          path,
          content: content.replace("if (!isPath)", "if (to === '')"),
        })),
        ["/leave?to="],
      ),
    ],
  });
  onTestFinished(() => server.close());
  const env = { FETCHWORK_BASE_URL: server.baseUrl, FETCHWORK_MODEL: "scripted" };
  const { code, stdout, stderr } = await runScript(["shipping-price", "safe-redirect"], env);
  expect([code, stderr]).toEqual([1, ""]);
  const [, first, second, last] = stdout.trim().split("\n");
  expect(first).toMatch(/^shipping-price +yes +yes /);
  expect(second).toMatch(/^safe-redirect +no .*the hidden check failed: AssertionError/);
  expect(last).toBe("1 of 2 tasks are ok");
  // What the agent was shown has no part of a check.
  const asked = server.requests.map(({ messages }) => messages.join("\n")).join("\n");
  expect(asked).toContain("shippingPrices");
  expect(asked).not.toMatch(/hasOwnProperty|evil\.test|checkHere/);
});
