import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { VerifyError } from "../errors.ts";

/** A process that ends while it changes documents. */
export interface Ending {
  /** Sends a request to it. */
  send(request: Request): Promise<Response>;
  /** Lets a number of changes happen from now on; the next one ends it. */
  endAfter(changes: number): Promise<void>;
  /** Lets all changes happen again; resolves to whether it has ended in between. */
  restart(): Promise<boolean>;
}

/** What a second process serves. */
export interface Served {
  /** Path of the module that exports the service. */
  readonly module: string;
  /** Name of the service. */
  readonly service: string;
  /** URL of the database. */
  readonly database: string;
  readonly settings: Readonly<Record<string, string>>;
}

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
}

/** How often it is killed, since each time costs the start of another one. */
const maxKills = 6;

/** Serves the same documents in a separate process, which SIGKILL ends. */
export class SecondProcess implements Ending, AsyncDisposable {
  readonly #served: Served;
  #running: Promise<Running> | undefined;
  #kills = 0;

  constructor(served: Served) {
    this.#served = served;
  }

  /** Whether it has been killed often enough. */
  get isDone(): boolean {
    return this.#kills >= maxKills;
  }

  /** Resolves to a 503 when it ends before it has responded. */
  async send(request: Request): Promise<Response> {
    const { child, url } = await this.#run();
    const { pathname, search } = new URL(request.url);
    try {
      const response = await fetch(new Request(new URL(`${pathname}${search}`, url), request));
      return new Response(await response.text(), { status: response.status });
    } catch {
      await kill(child);
      return new Response("", { status: 503 });
    }
  }

  async endAfter(changes: number): Promise<void> {
    const { child } = await this.#run();
    child.send(changes === Infinity ? {} : { changes });
    await nextOf(child);
  }

  async restart(): Promise<boolean> {
    const { child } = await this.#run();
    if (child.exitCode === null && child.signalCode === null) {
      await this.endAfter(Infinity);
      return false;
    }
    this.#kills += 1;
    this.#running = undefined;
    // It starts while the documents are looked at.
    if (!this.isDone) this.#run().catch(() => undefined);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = await this.#running?.catch(() => undefined);
    if (running) await kill(running.child);
  }

  #run(): Promise<Running> {
    this.#running ??= start(this.#served);
    return this.#running;
  }
}

async function start(served: Served): Promise<Running> {
  // The sources run as they are, and the package as JavaScript.
  const isSource = import.meta.url.endsWith(".ts");
  const program = new URL(`./serve-fragile.${isSource ? "ts" : "js"}`, import.meta.url);
  const child = fork(program, [JSON.stringify(served)], {
    execArgv: [...process.execArgv, ...(isSource ? ["--conditions=@fetchwork/source"] : [])],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const { reason = "it ended", url } = await nextOf(child);
  if (url !== undefined) return { child, url };
  throw new VerifyError(`a second process cannot serve ${served.module}: ${reason}`);
}

/** What it sends next; nothing once it has ended. */
async function nextOf(
  child: ChildProcess,
): Promise<{ readonly reason?: string; readonly url?: string }> {
  const sent: unknown[] = await Promise.race([once(child, "message"), once(child, "exit")]);
  return Object(sent[0]) as { readonly reason?: string; readonly url?: string };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
