import type { TaskBus } from "./task-bus.ts";
import type { TaskStore } from "./task-store.ts";
import { toTask } from "./wire.ts";

/** Events that a client wants. */
export interface EventSelection {
  readonly taskId: string;
  /** Number of the last event that the client has; 0: none. */
  readonly after: number;
  /** Ends when the client goes away, and when the server stops. */
  readonly signal: AbortSignal;
}

/** Milliseconds between two looks for events of other processes. */
const pollInterval = 500;
/** Milliseconds in which texts are joined. */
const joinTexts = 40;
/** Milliseconds without an event after which a comment keeps proxies connected. */
const keepAlive = 15_000;
/** Characters of live text that wait for a slow reader; more are dropped. */
const maxWaiting = 262_144;

/**
 * Writes what happens to a task as server-sent events (HTML, section 9.2): a `task` event with the
 * task as it is, then each event after the given one, its number as id. `text` events in between
 * have no id: they have what steps write in this process. Ends with a task that is completed,
 * canceled or deleted.
 *
 * @yields Each event, as it is sent.
 */
export async function* writeEvents(
  { store, bus }: { readonly store: TaskStore; readonly bus: TaskBus },
  { taskId, after, signal }: EventSelection,
): AsyncGenerator<string, void, undefined> {
  const live = new Map<string, string>();
  let waiting = 0;
  const forget = bus.listen(taskId, (text) => {
    if (text === undefined || waiting + text.text.length > maxWaiting) return;
    waiting += text.text.length;
    live.set(text.stepId, (live.get(text.stepId) ?? "") + text.text);
  });
  let number = after;
  let quietSince = Date.now();
  let isFirst = true;
  try {
    while (!signal.aborted) {
      const changed = bus.changed(taskId, signal, { time: pollInterval, joinTexts });
      const task = await store.tasks.get(taskId);
      if (task === undefined) {
        yield event("task.deleted", {});
        return;
      }
      if (isFirst) {
        isFirst = false;
        // A number that there is not yet would hide what happens next.
        number = Math.min(number, task.events);
        const artifacts = (await store.artifactsOf([taskId])).get(taskId) ?? [];
        yield `retry: 1000\n${event("task", toTask(task, artifacts))}`;
      }
      while (number < task.events) {
        const where = { taskId, number: { gt: number } };
        const events = await store.events.find({ where, sort: ["number"], limit: 100 });
        if (events.length === 0) break;
        for (const { type, data, createdAt, ...rest } of events) {
          ({ number } = rest);
          yield event(type, { ...data, at: createdAt }, number);
        }
        quietSince = Date.now();
      }
      for (const [stepId, text] of live) {
        yield event("text", { step_id: stepId, text });
        quietSince = Date.now();
      }
      live.clear();
      waiting = 0;
      if (task.state !== "open" && number >= task.events) return;
      if (Date.now() - quietSince > keepAlive) {
        yield ": nothing new\n\n";
        quietSince = Date.now();
      }
      await changed;
    }
  } finally {
    forget();
  }
}

function event(type: string, data: object, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
