import { join } from "node:path";
import { root } from "../workspace-packages.ts";
import { startProgram } from "../test-runtimes/start-program.ts";

/** The blog of `examples/blog`, with the user whom its README signs in. */
export interface RunningBlog {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts the blog from its sources on a free port, with documents in a folder. */
export async function startBlog(
  folder: string,
  environment: Readonly<Record<"MASTER_KEY" | "JWT_SECRET", string>>,
): Promise<RunningBlog> {
  const blog = startProgram(process.execPath, {
    args: ["--conditions=@fetchwork/source", join(root, "examples/blog/src/index.ts")],
    cwd: folder,
    limit: 600_000,
    environment: {
      ...environment,
      PORT: "0",
      IP: "127.0.0.1",
      DATABASE_URL: `sqlite:${join(folder, "blog.db")}`,
    },
  });
  const [origin = ""] = await blog.line(/http:\/\/[\d.:]+/);
  const form = { email: "ada@example.com", password: "analytical" };
  const body = new URLSearchParams({ ...form, access_token: environment.MASTER_KEY });
  const { status } = await fetch(new URL("/users", origin), { method: "POST", body });
  if (status !== 201) throw new Error(`the blog returned ${status} for a new user`);
  return {
    port: Number(new URL(origin).port),
    stop: async () => {
      blog.kill();
      await blog.ended;
    },
  };
}
