import { ask, post } from "./api.js";
import { at, make, save, shortTime, stateLabel } from "./elements.js";
import { said, tried } from "./tried.js";

/** @typedef {import("../src/server/wire.ts").Task} Task */
/** @typedef {import("../src/server/wire.ts").Step} Step */
/**
 * @typedef {{ state?: string, attempts?: number, last_error?: { message: string }, verified?:
 * boolean }} StepNotes
 */

/** Told to `main` when something was done to the task that it shows. */
export const taskChanged = "fetchwork-changed";

function changed() {
  at("main").dispatchEvent(new Event(taskChanged));
}

/**
 * @param {HTMLElement} top
 * @param {Task} task
 * @param {boolean} isRunning
 */
export function renderTop(top, task, isRunning) {
  const id = task.task_id;
  const isOpen = task.state !== "completed" && task.state !== "canceled";
  const { inputTokens, outputTokens, cost, calls } = task.usage;
  const price = cost === null || calls === 0 ? "" : ` · $${cost.toFixed(4)}`;
  const tokens = (inputTokens + outputTokens).toLocaleString();
  const label = isRunning ? "running" : task.state;
  const focused = document.activeElement?.textContent;
  const act = (/** @type {string} */ path) => async () => {
    await post(`/tasks/${id}/${path}`);
    changed();
  };
  top.replaceChildren(
    make(
      "div",
      {},
      make("h2", { tabIndex: 0 }, task.input.trim()),
      make(
        "p",
        { className: "meta" },
        stateLabel(label),
        ` · ${shortTime(task.created_at)} · ${tokens} tokens in ${calls === 1 ? "1 call" : `${calls} calls`}${price}`,
      ),
    ),
    make(
      "div",
      { className: "actions" },
      isOpen
        ? make(
            "button",
            { className: "primary", onclick: tried(act("run")), disabled: isRunning },
            task.steps.open < task.steps.total ? "Go on" : "Run",
          )
        : undefined,
      isOpen
        ? make(
            "button",
            {
              onclick: tried(async () => {
                const stepping = post(`/tasks/${id}/steps`);
                changed();
                await stepping;
              }),
              disabled: isRunning,
            },
            "One step",
          )
        : undefined,
      isOpen ? make("button", { onclick: tried(act("cancel")) }, "Cancel") : undefined,
      make(
        "button",
        {
          disabled: task.artifacts.length === 0,
          onclick: tried(async () => {
            const response = await ask(`/tasks/${id}/archive`);
            save(await response.blob(), `${id}.tar`);
          }),
        },
        "Download all",
      ),
      make(
        "button",
        {
          className: "danger",
          onclick: tried(async () => {
            if (!confirm("Delete this task with its files?")) return;
            await ask(`/tasks/${id}`, { method: "DELETE" });
            location.hash = "#/new";
          }),
        },
        "Delete",
      ),
    ),
  );
  for (const button of top.querySelectorAll("button")) {
    if (button.textContent === focused) button.focus();
  }
  const error = task.last_error;
  at("main").querySelector(".failure")?.remove();
  if (error !== null && isOpen) {
    const text = `The last step failed: ${String(error["message"])}`;
    top.after(make("p", { className: "problem failure" }, text));
  }
}

/** @param {Step} step */
export function stepItem(step) {
  const {
    state,
    attempts,
    last_error: error,
    verified,
  } = /** @type {StepNotes} */ (step.additional_output);
  const isBack = step.status === "created" && state !== undefined;
  const label = isBack ? (state ?? "") : step.status === "created" ? "waiting" : step.status;
  return make(
    "li",
    {},
    make(
      "div",
      { className: "row" },
      make("span", { className: "name" }, step.name),
      stateLabel(step.status === "running" ? "running" : label),
    ),
    attempts !== undefined && attempts > 1
      ? make("p", { className: "meta" }, `attempt ${attempts}`)
      : undefined,
    isBack && error !== undefined ? make("p", { className: "error" }, error.message) : undefined,
    verified === false ? make("p", { className: "error" }, step.output ?? "") : undefined,
  );
}

/**
 * @param {HTMLElement} live
 * @param {{ step_id?: string, text?: string }} data
 * @param {ReadonlyMap<string, string>} names Of steps, by id.
 */
export function addText(live, { step_id: stepId = "", text = "" }, names) {
  let block = live.querySelector(`[data-step="${CSS.escape(stepId)}"]`);
  if (block === null) {
    block = make(
      "section",
      { className: "sheet", "data-step": stepId, "aria-label": "Live log" },
      make("h3", {}, make("span", {}, names.get(stepId) ?? "Writing"), make("small", {}, "live")),
      make("pre", { className: "log", tabIndex: 0 }),
    );
    live.append(block);
  }
  const log = block.querySelector("pre");
  if (log === null) return;
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 30;
  log.append(text);
  if (atEnd) log.scrollTop = log.scrollHeight;
}

/**
 * @param {HTMLElement} more
 * @param {Task} task
 * @param {readonly Step[]} steps
 */
export function renderMore(more, task, steps) {
  const isThere = more.childElementCount > 0;
  // A change of which nothing came may be said in other words.
  const failed = steps.find(
    ({ name, status, additional_output: { state } }) =>
      name === "edit" && status === "created" && state === "failed",
  );
  const isOffered = task.state === "completed" || (task.state === "failed" && failed !== undefined);
  if (!isOffered) more.replaceChildren();
  if (!isOffered || isThere) return;
  more.replaceChildren(
    make(
      "section",
      { className: "sheet", "aria-label": "Change something" },
      make("h3", {}, "Change something"),
      make(
        "form",
        {
          className: "more",
          onsubmit: tried(async (event) => {
            const { form, text } = said(event);
            const button = form.querySelector("button");
            button?.toggleAttribute("disabled", true);
            const editing = post(`/tasks/${task.task_id}/steps`, {
              input: text("input"),
              additional_input: { continue: true },
            });
            setTimeout(changed, 200);
            await editing.finally(() => {
              button?.toggleAttribute("disabled", false);
              changed();
            });
            form.reset();
          }),
        },
        make("textarea", {
          name: "input",
          required: true,
          "aria-label": "What is to be changed?",
          placeholder: "What is to be changed?",
          value: failed?.input ?? "",
        }),
        make("div", {}, make("button", { className: "primary" }, "Change")),
      ),
    ),
  );
}
