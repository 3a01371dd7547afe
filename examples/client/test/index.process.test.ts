import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";

const masterKey = "test-master-key-test-master-key-0";
const examples = path.join(import.meta.dirname, "../..");

interface Program {
  readonly output: string;
  readonly errors: string;
  readonly code: number | null;
}

function start(
  file: string,
  environment: NodeJS.ProcessEnv,
): ReturnType<typeof spawn> & { readonly stdout: NodeJS.ReadableStream } {
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", path.join(examples, file)],
    {
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        MASTER_KEY: masterKey,
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Runs the program to its end. */
async function run(environment: NodeJS.ProcessEnv): Promise<Program> {
  const child = start("client/src/index.ts", environment);
  const code = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [output, errors] = await Promise.all([
    text(child.stdout),
    child.stderr === null ? "" : text(child.stderr),
  ]);
  return { output, errors, code: await code };
}

/** Starts the blog on an empty store, and returns its origin. */
async function startBlog(): Promise<string> {
  const child = start("blog/src/index.ts", {
    JWT_SECRET: "test-jwt-secret-test-jwt-secret-00",
    DATABASE_URL: "sqlite::memory:",
    IP: "127.0.0.1",
    PORT: "0",
  });
  let greeting = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    greeting += String(chunk);
    const [origin] = /http:\/\/[\d.]+:\d+/.exec(greeting) ?? [];
    if (origin !== undefined) return origin;
  }
  throw new Error(`the blog did not start: ${greeting}`);
}

it("the client creates a user, signs in, writes an article, finds and removes it", async () => {
  const origin = await startBlog();
  const { output, errors, code } = await run({ BLOG_URL: origin });
  expect(errors).toBe("");
  expect(output.split("\n")).toEqual([
    expect.stringMatching(/^created the user ada-[\da-f-]+@example\.com$/),
    "signed in",
    'wrote "Notes on the Engine"',
    "found 1 of 1: Notes on the Engine",
    "removed it",
    "it is gone",
    "",
  ]);
  expect(code).toBe(0);
});

it("the client says what is wrong when the master key is, and does not show it", async () => {
  const origin = await startBlog();
  const key = "another-master-key-another-master";
  const { output, errors, code } = await run({ BLOG_URL: origin, MASTER_KEY: key });
  expect([output, code]).toEqual(["", 1]);
  expect(errors).toContain("ERR_HTTP_REST: ");
  expect(errors).not.toContain(key);
});

it("the client says what is wrong when there is no blog", async () => {
  const { errors, code } = await run({ BLOG_URL: "http://127.0.0.1:9" });
  expect(errors).toContain("ERR_HTTP_CONNECTION: POST http://127.0.0.1:9/users: ");
  expect(errors).toContain("npm start");
  expect(code).toBe(1);
});
