import { createTask } from "./api.js";
import { at, make } from "./elements.js";
import { turnPage } from "./task-list.js";
import { said, tried } from "./tried.js";

/** Shows the form for a new task. */
export function showNewTask() {
  document.title = "New task · Fetchwork agent";
  const input = make("textarea", {
    name: "input",
    required: true,
    maxLength: 500_000,
    placeholder: "A page with a stopwatch: start, stop, lap times in a table …",
  });
  const form = make(
    "form",
    {
      className: "task",
      onsubmit: tried(async (event) => {
        const { text } = said(event);
        const model = text("model").trim();
        const task = await createTask({
          input: text("input"),
          additional_input: {
            ...(model !== "" && { model }),
            verify: text("verify"),
            ...(text("run") === "on" && { run: true }),
          },
        });
        turnPage("newest");
        location.hash = `#/tasks/${task.task_id}`;
      }),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          form.querySelector("button")?.click();
        }
      },
    },
    make("h2", {}, "New task"),
    make("label", {}, "What is to be programmed?", input),
    make(
      "div",
      { className: "pair" },
      make(
        "label",
        {},
        "Model",
        make("input", { name: "model", autocomplete: "off", spellcheck: false }),
        make("small", {}, "Empty: the server’s own."),
      ),
      make(
        "label",
        {},
        "Check at the end",
        make(
          "select",
          { name: "verify" },
          make("option", { value: "static" }, "Static check, with repairs"),
          make("option", { value: "none" }, "None"),
        ),
      ),
    ),
    make(
      "label",
      { className: "check" },
      make("input", { type: "checkbox", name: "run", checked: true }),
      "Run all steps at once",
    ),
    make(
      "div",
      {},
      make("button", { className: "primary" }, "Create"),
      " ",
      make("small", {}, "or Ctrl + Enter"),
    ),
  );
  at("main").replaceChildren(form);
  input.focus();
}
