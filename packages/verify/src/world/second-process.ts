import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { VerifyError } from "../errors.ts";
import type { SentRequest } from "./fragile-service.ts";

/** Work of a second process. */
export interface Served {
  /** Path of the module that exports the service. */
  readonly module: string;
  /** Name of the service. */
  readonly service: string;
  /** URL of the database. */
  readonly database: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Messages of a second process: one once it serves, then each response. */
export interface Sent {
  /** Why it cannot serve. */
  readonly reason?: string;
  readonly status?: number;
  readonly text?: string;
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
}

/** How often it is killed, since each time costs the start of another one. */
const maxKills = 6;

/** Serves the same documents in a separate process, which SIGKILL ends. */
export class SecondProcess implements AsyncDisposable {
  readonly #served: Served;
  readonly #cache: string;
  #running: Promise<Running> | undefined;
  #kills = 0;

  /** @param cache - Folder for compiled code: it makes later starts faster. */
  constructor(served: Served, cache: string) {
    this.#served = served;
    this.#cache = cache;
  }

  /** Whether it has been killed often enough. */
  get isDone(): boolean {
    return this.#kills >= maxKills;
  }

  /** Resolves to nothing when the process has ended before it has responded. */
  async handle(request: SentRequest): Promise<Response | undefined> {
    const running = await (this.#running ??= start(this.#served, this.#cache));
    // Sending to one that is ending fails, which the end itself tells.
    running.child.send(request, () => undefined);
    const sent = await nextOf(running);
    if (sent)
      return new Response(sent.text === "" ? null : sent.text, { status: sent.status ?? 0 });
    this.#kills += 1;
    // Another one starts while the documents are looked at.
    this.#running = this.isDone ? undefined : start(this.#served, this.#cache);
    this.#running?.catch(() => undefined);
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = await this.#running?.catch(() => undefined);
    running?.child.kill("SIGKILL");
    await running?.ended;
  }
}

async function start(served: Served, cache: string): Promise<Running> {
  // The sources run as they are, and the package as JavaScript.
  const isSource = import.meta.url.endsWith(".ts");
  const program = new URL(`./serve-fragile.${isSource ? "ts" : "js"}`, import.meta.url);
  const child = fork(program, [JSON.stringify(served)], {
    execArgv: [...process.execArgv, ...(isSource ? ["--conditions=@fetchwork/source"] : [])],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    // oxlint-disable-next-line node/no-process-env -- Modules of the project may need it.
    env: { NODE_COMPILE_CACHE: cache, ...process.env },
  });
  const running = { child, ended: once(child, "exit") };
  const { reason } = (await nextOf(running)) ?? { reason: "it ended" };
  if (reason === undefined) return running;
  throw new VerifyError(`a second process cannot serve ${served.module}: ${reason}`);
}

/** Resolves to the next message; to nothing once the process has ended. */
async function nextOf({ child, ended }: Running): Promise<Sent | undefined> {
  const first = await Promise.race([once(child, "message"), ended.then(() => [])]);
  return first[0] as Sent | undefined;
}
