import type { AgentEvent } from "@fetchwork/agent";
import { manyLines, oneLine } from "../terminal-text.ts";

/** Characters of an answer that are kept for the log. */
const mostText = 1024 * 1024;

/** What `--debug` adds: the plan, the files and what they use, and each answer as it came. */
export class DebugLog {
  readonly #answers = new Map<string, string>();

  /** What is added to an event; undefined: nothing. */
  of(event: AgentEvent): string | undefined {
    switch (event.type) {
      case "token": {
        const key = event.path ?? event.step;
        this.#answers.set(key, ((this.#answers.get(key) ?? "") + event.text).slice(0, mostText));
        return undefined;
      }
      case "retry":
        // The next attempt answers anew.
        this.#answers.delete(event.path ?? event.step);
        return undefined;
      case "planned":
        this.#answers.delete("plan");
        return block("plan", event.sharedDeps);
      case "files": {
        const lines = event.files.map(({ path, dependsOn, purpose }) => {
          const uses = dependsOn.length === 0 ? "" : ` uses ${dependsOn.join(", ")}`;
          return `${path}${uses}${purpose === "" ? "" : ` - ${purpose}`}`;
        });
        return block("files", lines.join("\n"));
      }
      case "file": {
        const answer = this.#answers.get(event.path);
        this.#answers.delete(event.path);
        return answer === undefined ? undefined : block(event.path, answer);
      }
      case "checked": {
        const repaired = [...this.#answers].map(([path, answer]) => block(path, answer));
        this.#answers.clear();
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
