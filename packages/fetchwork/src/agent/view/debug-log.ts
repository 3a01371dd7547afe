import type { AgentEvent } from "@fetchwork/agent";
import { manyLines, oneLine } from "../../command/terminal-text.ts";

/** Maximum characters of a response that the log shows. */
const maxText = 1024 * 1024;

/** Text that `--debug` adds: the plan, the files with their dependencies, and each raw response. */
export class DebugLog {
  readonly #responses = new Map<string, string>();

  /** Text to add for an event; `undefined`: none. */
  of(event: AgentEvent): string | undefined {
    switch (event.type) {
      case "token": {
        const key = event.path ?? event.step;
        this.#responses.set(key, ((this.#responses.get(key) ?? "") + event.text).slice(0, maxText));
        return undefined;
      }
      case "retry":
        // The next attempt has a new response.
        this.#responses.delete(event.path ?? event.step);
        return undefined;
      case "planned":
        this.#responses.delete("plan");
        return block("plan", event.sharedDeps);
      case "files": {
        const lines = event.files.map(({ path, dependsOn, purpose }) => {
          const uses = dependsOn.length === 0 ? "" : ` uses ${dependsOn.join(", ")}`;
          return `${path}${uses}${purpose === "" ? "" : ` - ${purpose}`}`;
        });
        return block("files", lines.join("\n"));
      }
      case "file": {
        const response = this.#responses.get(event.path);
        this.#responses.delete(event.path);
        return response === undefined ? undefined : block(event.path, response);
      }
      case "checked": {
        const repaired = [...this.#responses].map(([path, response]) => block(path, response));
        this.#responses.clear();
        return repaired.length === 0 ? undefined : repaired.join("\n");
      }
      default:
        return undefined;
    }
  }
}

function block(title: string, text: string): string {
  return `----- ${oneLine(title)}\n${manyLines(text.trimEnd())}\n-----`;
}
