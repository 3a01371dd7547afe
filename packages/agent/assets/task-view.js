import { ask, follow, getTask, listSteps } from "./api.js";
import { announce, at, make, pathOf } from "./elements.js";
import { fileLink, renderFile } from "./file-view.js";
import { lost, refreshTasks } from "./task-list.js";
import { addText, renderMore, renderTop, stepItem, taskChanged } from "./task-parts.js";
import { showProblem, tried } from "./tried.js";

/** @typedef {import("../src/server/wire.ts").Task} Task */

/**
 * Shows a task, and what happens to it until the signal aborts.
 *
 * @param {string} taskId
 * @param {string | undefined} fileId
 * @param {AbortSignal} signal
 */
export async function showTask(taskId, fileId, signal) {
  const main = at("main");
  const top = make("section", { className: "top" });
  const steps = make("ol", { className: "steps" });
  const stepCount = make("small");
  const files = make("div", { className: "files" });
  const fileCount = make("small");
  const live = make("div", { className: "live" });
  const viewer = make("div", { className: "sheet" });
  const more = make("div");
  const upload = make("input", {
    type: "file",
    className: "unseen",
    tabIndex: -1,
    "aria-label": "File to add",
    onchange: tried(async ({ target }) => {
      if (!(target instanceof HTMLInputElement)) return;
      const body = new FormData();
      for (const file of target.files ?? []) body.append("file", file);
      await ask(`/tasks/${taskId}/artifacts`, { method: "POST", body });
      target.value = "";
      await update();
    }),
  });
  main.replaceChildren(
    top,
    make(
      "div",
      { className: "panes" },
      make(
        "div",
        { className: "side" },
        make(
          "section",
          { className: "sheet", "aria-label": "Steps" },
          make("h3", {}, "Steps", stepCount),
          steps,
        ),
        make(
          "section",
          { className: "sheet", "aria-label": "Files" },
          make(
            "h3",
            {},
            "Files",
            make(
              "span",
              {},
              fileCount,
              " ",
              make("button", { type: "button", onclick: () => upload.click() }, "Add a file"),
            ),
          ),
          files,
          upload,
        ),
        more,
      ),
      make("div", { className: "side" }, live, viewer),
    ),
  );

  /** @type {Map<string, string>} */
  const names = new Map();
  /** @type {Task | undefined} */
  let task;
  let shownFile = "";
  let lastState = "";

  const update = async () => {
    const [now, list] = await Promise.all([getTask(taskId), listSteps(taskId)]);
    if (signal.aborted) return;
    task = now;
    const running = list.steps.filter((step) => step.status === "running");
    document.title = `${now.input.trim().slice(0, 60)} · Fetchwork agent`;
    renderTop(top, now, running.length > 0 || now.automatic);
    const { total, open } = now.steps;
    stepCount.textContent = `${total - open} of ${total}`;
    const hidden = list.pagination.total_items - list.steps.length;
    const rest = hidden > 0 ? [make("li", { className: "meta" }, `and ${hidden} more`)] : [];
    steps.replaceChildren(...list.steps.map(stepItem), ...rest);
    for (const { step_id: stepId, name } of list.steps) names.set(stepId, name);
    for (const block of live.querySelectorAll("[data-step]")) {
      const id = block.getAttribute("data-step") ?? "";
      const title = block.querySelector("h3 span");
      if (title !== null) title.textContent = names.get(id) ?? "Writing";
      if (!running.some((step) => step.step_id === id)) block.remove();
    }
    fileCount.textContent = String(now.artifacts.length);
    files.replaceChildren(
      ...(now.artifacts.length === 0
        ? []
        : now.artifacts
            .toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))
            .map((artifact) => fileLink(taskId, artifact, fileId))),
    );
    renderMore(more, now, list.steps);
    if (now.state !== lastState && lastState !== "") announce(`The task is ${now.state}.`);
    lastState = now.state;
    const chosen = now.artifacts.find((one) => one.artifact_id === fileId) ?? now.artifacts.at(-1);
    const wanted = chosen === undefined ? "" : `${chosen.artifact_id} ${chosen.versions}`;
    if (chosen === undefined) {
      viewer.hidden = true;
    } else if (wanted !== shownFile) {
      const isFirst = shownFile === "";
      shownFile = wanted;
      viewer.hidden = false;
      await renderFile(viewer, taskId, chosen);
      // Below everything else on a narrow screen.
      if (isFirst && chosen.artifact_id === fileId) viewer.scrollIntoView({ block: "nearest" });
    }
  };

  let planned = false;
  const updateSoon = () => {
    if (planned) return;
    planned = true;
    setTimeout(() => {
      planned = false;
      if (!signal.aborted) update().then(refreshTasks).catch(showProblem);
    }, 120);
  };

  const listen = () =>
    follow(taskId, signal, (type, data) => {
      if (type === "text") return addText(live, data, names);
      if (type === "connection") return lost(undefined);
      if (type === "task.deleted") {
        location.hash = "#/new";
        return;
      }
      if (type === "step.failed")
        announce(`${data.name ?? ""} failed: ${data.error?.message ?? ""}`);
      if (type === "step.completed") announce(`${data.name ?? ""} is done.`);
      updateSoon();
    });

  main.addEventListener(
    taskChanged,
    () => {
      updateSoon();
      if (task?.state === "completed") void listen();
    },
    { signal },
  );
  await update();
  void listen();
}
