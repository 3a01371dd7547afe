import type { AgentEvent, Usage } from "@fetchwork/agent";
import type { CommandOutput } from "../../command/command-io.ts";
import { colours, oneLine } from "../../command/terminal-text.ts";
import { grouped, usageText } from "./event-line.ts";

/** Milliseconds between two pictures. */
const interval = 100;

/** Files that are shown while they are written. */
const maxRunning = 8;

const erase = "\u001b[J";

/** Lines that stay, and under them what runs now: files done and running, tokens, cost, time. */
export class LiveView {
  readonly #output: CommandOutput;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  /** Characters received so far of each response in progress. */
  readonly #running = new Map<string, number>();
  #total: number | undefined;
  #done = 0;
  #phase = "plan";
  #usage: Usage | undefined;
  #shown = 0;

  constructor(output: CommandOutput) {
    this.#output = output;
    this.#timer = setInterval(() => this.#draw(), interval);
  }

  /** Takes an event, and the lines of it that stay. */
  show(event: AgentEvent, lines: readonly string[]): void {
    this.#take(event);
    if (lines.length === 0) return;
    this.#clear();
    for (const line of lines) this.#output.write(`${line}\n`);
    this.#draw();
  }

  /** Takes the picture away. */
  end(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #take(event: AgentEvent): void {
    switch (event.type) {
      case "step":
        this.#phase = event.step;
        if (event.step === "verify" || event.step === "write") this.#running.clear();
        else this.#running.set(event.path ?? event.step, 0);
        break;
      case "token": {
        const key = event.path ?? event.step;
        this.#running.set(key, (this.#running.get(key) ?? 0) + event.text.length);
        break;
      }
      case "retry":
        this.#running.set(event.path ?? event.step, 0);
        break;
      case "planned":
        this.#running.delete("plan");
        this.#usage = event.usage;
        break;
      case "files":
        this.#running.delete("files");
        this.#total = event.files.length;
        this.#usage = event.usage;
        break;
      case "file":
        this.#running.delete(event.path);
        this.#done = event.done;
        this.#usage = event.usage;
        break;
      default:
    }
  }

  #clear(): void {
    if (this.#shown > 0) this.#output.write(`\u001b[${this.#shown}A\r${erase}`);
    this.#shown = 0;
  }

  #draw(): void {
    const width = (this.#output.columns ?? 80) - 1;
    const { dim } = colours(this.#output);
    // Lines that leave the screen at the top cannot be erased any more.
    const maxLines = Math.max(1, (this.#output.rows ?? 24) - 1);
    const lines = this.#lines()
      .slice(0, maxLines)
      .map((line) => fit(line, width));
    const up = this.#shown > 0 ? `\u001b[${this.#shown}A\r` : "";
    this.#output.write(`${up}${erase}${lines.map((line) => `${dim(line)}\n`).join("")}`);
    this.#shown = lines.length;
  }

  #lines(): readonly string[] {
    const seconds = Math.floor((performance.now() - this.#began) / 1000);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const files = this.#total === undefined ? [] : [`${this.#done}/${this.#total} files`];
    const running = this.#running.size;
    const head = [
      this.#phase,
      ...files,
      ...(running > 0 ? [`${running} running`] : []),
      ...(this.#usage === undefined ? [] : [usageText(this.#usage)]),
      time,
    ].join("  ");
    const shown = [...this.#running].slice(0, maxRunning);
    const lines = shown.map(
      ([name, characters]) => `  ${oneLine(name)}  ${grouped(characters)} characters`,
    );
    const more = running - shown.length;
    return [head, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])];
  }
}

/** Cuts a line that would wrap: erasing counts lines. Non-ASCII may be two columns wide. */
function fit(line: string, width: number): string {
  let used = 0;
  let kept = "";
  for (const character of line) {
    used += character <= "~" ? 1 : 2;
    if (used > width) return kept;
    kept += character;
  }
  return kept;
}
