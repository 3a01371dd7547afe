import { ask, askJson, follow, NeedsToken, post, setToken, token } from "./api.js";
import { diffLines } from "./diff.js";
import { highlight, lines } from "./highlight.js";

const size = 20;
const main = at("main");
/** Which page of tasks is shown, counted from the newest. */
let pageFromEnd = 0;
/** Ends what belongs to the view that is left. */
let leave = new AbortController();

/** @param {string} id */
function at(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`there is no #${id}`);
  return element;
}

/**
 * Makes an element. Text is only ever text.
 *
 * @param {string} tag
 * @param {Record<string, any>} properties Listeners begin with `on`; what has a `-` or no property of that name is an attribute.
 * @param {...(Node | string | undefined)} children
 */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !name.includes("-")) /** @type {any} */ (element)[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** @param {string} text */
function announce(text) {
  at("announce").textContent = text;
}

/** @param {unknown} error */
function showProblem(error) {
  if (error instanceof NeedsToken) return showSignIn();
  if (error instanceof DOMException && error.name === "AbortError") return;
  const text = error instanceof Error ? error.message : String(error);
  main.querySelector(".problem")?.remove();
  main.prepend(make("p", { className: "problem", role: "alert" }, text));
}

/**
 * A listener that says what went wrong.
 *
 * @param {(event: any) => Promise<void>} work
 */
function tried(work) {
  return (/** @type {Event} */ event) => {
    event.preventDefault();
    const button = event.type === "submit" ? undefined : event.currentTarget;
    if (button instanceof HTMLButtonElement) button.disabled = true;
    work(event)
      .catch(showProblem)
      .finally(() => {
        if (button instanceof HTMLButtonElement) button.disabled = false;
      });
  };
}

/** @param {string} state */
function stateLabel(state) {
  return make("span", { className: "state", "data-state": state }, state);
}

/** @param {string} time */
function shortTime(time) {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString(undefined, { timeStyle: "short" })
    : date.toLocaleDateString(undefined, { dateStyle: "medium" });
}

/** @param {{ file_name: string, relative_path: string | null }} artifact */
function pathOf({ file_name: name, relative_path: folder }) {
  return folder === null || folder === "." ? name : `${folder}/${name}`;
}

/** @param {number} bytes */
function shortSize(bytes) {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576
    ? `${(bytes / 1_024).toFixed(1)} KiB`
    : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/* The list of tasks. */

async function showTasks() {
  const first = await askJson(`/tasks?page_size=${size}`);
  const pages = Math.max(1, first.pagination.total_pages);
  pageFromEnd = Math.min(pageFromEnd, pages - 1);
  const page = pages - pageFromEnd;
  const shown = page === 1 ? first : await askJson(`/tasks?page_size=${size}&current_page=${page}`);
  const [, current] = location.hash.split("/tasks/");
  const items = shown.tasks.toReversed().map((/** @type {any} */ task) =>
    make(
      "li",
      {},
      make(
        "a",
        {
          href: `#/tasks/${task.task_id}`,
          "aria-current": current?.startsWith(task.task_id) === true ? "page" : undefined,
        },
        make("span", { className: "title" }, task.input.trim().split("\n", 1)[0]),
        make(
          "span",
          { className: "about" },
          stateLabel(task.state),
          ` · ${shortTime(task.created_at)}`,
        ),
      ),
    ),
  );
  const list = at("tasks");
  const focused = document.activeElement?.getAttribute("href");
  list.replaceChildren(
    ...(items.length > 0 ? items : [make("li", { className: "empty" }, "No tasks yet.")]),
  );
  // Who walks through the list with the keyboard stays where he is.
  for (const link of list.querySelectorAll("a")) {
    if (link.getAttribute("href") === focused) link.focus();
  }
  at("newer").toggleAttribute("disabled", pageFromEnd === 0);
  at("older").toggleAttribute("disabled", page === 1);
  const count = first.pagination.total_items;
  at("place").textContent = count === 1 ? "1 task" : `${count} tasks`;
  at("forget").hidden = token() === null;
  at("connection").textContent = "";
}

const refreshTasks = () => showTasks().catch(lost);

/** @param {unknown} error */
function lost(error) {
  if (error instanceof NeedsToken) return showSignIn();
  at("connection").textContent = "The server cannot be reached; trying again.";
}

/* Signing in. */

function showSignIn() {
  if (main.querySelector(".sign") !== null) return;
  leave.abort();
  const field = make("input", {
    type: "password",
    name: "token",
    required: true,
    autocomplete: "current-password",
  });
  main.replaceChildren(
    make(
      "form",
      {
        className: "sign",
        onsubmit: tried(async () => {
          setToken(/** @type {HTMLInputElement} */ (field).value.trim());
          await askJson("/tasks?page_size=1").catch((error) => {
            setToken(undefined);
            throw error instanceof NeedsToken ? new Error("The token is wrong.") : error;
          });
          show();
        }),
      },
      make("h2", {}, "This server asks for its token"),
      make("label", {}, "Token", field, make("small", {}, "It is kept until this tab is closed.")),
      make("div", {}, make("button", { className: "primary" }, "Sign in")),
    ),
  );
  field.focus();
}

/* A new task. */

function showNewTask() {
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
        const said = new FormData(event.target);
        const model = String(said.get("model")).trim();
        const task = await post("/tasks", {
          input: said.get("input"),
          additional_input: {
            ...(model !== "" && { model }),
            verify: said.get("verify"),
            ...(said.get("run") === "on" && { run: true }),
          },
        });
        pageFromEnd = 0;
        location.hash = `#/tasks/${task.task_id}`;
      }),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          /** @type {HTMLFormElement} */ (form).requestSubmit();
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
  main.replaceChildren(form);
  input.focus();
}

/* One task. */

/**
 * @param {string} taskId
 * @param {string | undefined} fileId
 */
async function showTask(taskId, fileId) {
  const { signal } = leave;
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
    onchange: tried(async (event) => {
      const body = new FormData();
      body.append("file", event.target.files[0]);
      await ask(`/tasks/${taskId}/artifacts`, { method: "POST", body });
      event.target.value = "";
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
  /** @type {any} */
  let task;
  let shownFile = "";
  let lastState = "";

  const update = async () => {
    const [newTask, list] = await Promise.all([
      askJson(`/tasks/${taskId}`),
      askJson(`/tasks/${taskId}/steps?page_size=1000`),
    ]);
    if (signal.aborted) return;
    task = newTask;
    const running = list.steps.filter((/** @type {any} */ step) => step.status === "running");
    document.title = `${task.input.trim().split("\n", 1)[0].slice(0, 60)} · Fetchwork agent`;
    renderTop(top, task, running.length > 0 || task.automatic);
    const done = list.steps.filter((/** @type {any} */ step) => step.status === "completed");
    stepCount.textContent = `${done.length} of ${list.pagination.total_items}`;
    steps.replaceChildren(...list.steps.map(stepItem));
    for (const { step_id: stepId, name } of list.steps) names.set(stepId, name);
    for (const block of live.querySelectorAll("[data-step]")) {
      const id = block.getAttribute("data-step") ?? "";
      const title = block.querySelector("h3 span");
      if (title !== null) title.textContent = names.get(id) ?? "Writing";
      if (!running.some((/** @type {any} */ step) => step.step_id === id)) block.remove();
    }
    fileCount.textContent = String(task.artifacts.length);
    files.replaceChildren(
      ...(task.artifacts.length === 0
        ? []
        : task.artifacts
            .toSorted((/** @type {any} */ a, /** @type {any} */ b) =>
              pathOf(a) < pathOf(b) ? -1 : 1,
            )
            .map((/** @type {any} */ artifact) => fileLink(taskId, artifact, fileId))),
    );
    renderMore(more, task);
    if (task.state !== lastState && lastState !== "") announce(`The task is ${task.state}.`);
    lastState = task.state;
    const chosen =
      task.artifacts.find((/** @type {any} */ one) => one.artifact_id === fileId) ??
      task.artifacts.at(-1);
    const wanted = chosen === undefined ? "" : `${chosen.artifact_id} ${chosen.versions}`;
    if (chosen === undefined) {
      viewer.hidden = true;
    } else if (wanted !== shownFile) {
      shownFile = wanted;
      viewer.hidden = false;
      await renderFile(viewer, taskId, chosen);
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
      if (type === "connection") return lost(data);
      if (type === "task.deleted") {
        location.hash = "#/new";
        return;
      }
      if (type === "step.failed") announce(`${data.name} failed: ${data.error.message}`);
      if (type === "step.completed") announce(`${data.name} is done.`);
      updateSoon();
    });

  main.addEventListener(
    "fetchwork-changed",
    () => {
      updateSoon();
      if (task?.state === "completed") void listen();
    },
    { signal },
  );
  await update();
  void listen();
}

function changed() {
  main.dispatchEvent(new CustomEvent("fetchwork-changed"));
}

/**
 * @param {HTMLElement} top
 * @param {any} task
 * @param {boolean} isRunning
 */
function renderTop(top, task, isRunning) {
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
  main.querySelector(".failure")?.remove();
  if (error !== null && isOpen) {
    const text = `The last step failed: ${error.message}`;
    top.after(make("p", { className: "problem failure" }, text));
  }
}

/** @param {any} step */
function stepItem(step) {
  const { state, attempts, last_error: error, verified } = step.additional_output;
  const isBack = step.status === "created" && state !== undefined;
  const label = isBack ? state : step.status === "created" ? "waiting" : step.status;
  return make(
    "li",
    {},
    make(
      "div",
      { className: "row" },
      make("span", { className: "name" }, step.name),
      stateLabel(step.status === "running" ? "running" : label),
    ),
    attempts > 1 ? make("p", { className: "meta" }, `attempt ${attempts}`) : undefined,
    isBack && error !== undefined ? make("p", { className: "error" }, error.message) : undefined,
    verified === false ? make("p", { className: "error" }, step.output ?? "") : undefined,
  );
}

/**
 * @param {string} taskId
 * @param {any} artifact
 * @param {string | undefined} fileId
 */
function fileLink(taskId, artifact, fileId) {
  const marks = [
    artifact.versions > 1 ? "changed" : "",
    artifact.agent_created ? "" : "uploaded",
    shortSize(artifact.size),
  ];
  return make(
    "a",
    {
      href: `#/tasks/${taskId}/files/${artifact.artifact_id}`,
      "aria-current": artifact.artifact_id === fileId ? "true" : undefined,
    },
    make("span", {}, pathOf(artifact)),
    make("span", { className: "meta" }, marks.filter((mark) => mark !== "").join(" · ")),
  );
}

/**
 * @param {HTMLElement} live
 * @param {{ step_id: string, text: string }} data
 * @param {ReadonlyMap<string, string>} names Of steps, by id.
 */
function addText(live, data, names) {
  let block = live.querySelector(`[data-step="${CSS.escape(data.step_id)}"]`);
  if (block === null) {
    block = make(
      "section",
      { className: "sheet", "data-step": data.step_id, "aria-label": "Live log" },
      make(
        "h3",
        {},
        make("span", {}, names.get(data.step_id) ?? "Writing"),
        make("small", {}, "live"),
      ),
      make("pre", { className: "log", tabIndex: 0 }),
    );
    live.append(block);
  }
  const log = block.querySelector("pre");
  if (log === null) return;
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 30;
  log.append(data.text);
  if (atEnd) log.scrollTop = log.scrollHeight;
}

/**
 * @param {HTMLElement} viewer
 * @param {string} taskId
 * @param {any} artifact
 */
async function renderFile(viewer, taskId, artifact) {
  const path = pathOf(artifact);
  const url = `/tasks/${taskId}/artifacts/${artifact.artifact_id}`;
  const code = make("pre", { className: "code", tabIndex: 0, "aria-label": path });
  const read = async (/** @type {number} */ version) => {
    const bytes = new Uint8Array(await (await ask(`${url}?version=${version}`)).arrayBuffer());
    return bytes.includes(0) ? undefined : new TextDecoder().decode(bytes);
  };
  const newest = artifact.versions;
  const showVersion = async (/** @type {number} */ version, /** @type {boolean} */ asDiff) => {
    if (artifact.size > 2_097_152) {
      code.replaceChildren(make("span", { "data-line": "" }, "Too large to show; download it."));
      return;
    }
    const text = await read(version);
    if (text === undefined) {
      code.replaceChildren(make("span", { "data-line": "" }, "This is no text."));
      return;
    }
    const before = asDiff ? await read(version - 1) : undefined;
    code.replaceChildren(
      ...(before === undefined ? sourceLines(text, path) : diffOf(before, text)),
    );
  };
  const select = make(
    "select",
    {
      "aria-label": "What to show",
      onchange: tried(async (event) => {
        const [version = "1", kind = ""] = event.target.value.split(" ");
        await showVersion(Number(version), kind === "diff");
      }),
    },
    ...Array.from({ length: newest }, (_, index) => newest - index).flatMap((version) => [
      ...(version > 1
        ? [make("option", { value: `${version} diff` }, `Changes of version ${version}`)]
        : []),
      make("option", { value: `${version} file` }, newest === 1 ? "File" : `Version ${version}`),
    ]),
  );
  viewer.replaceChildren(
    make(
      "h3",
      {},
      make("span", {}, path),
      make(
        "span",
        {},
        newest > 1 ? select : undefined,
        " ",
        make(
          "button",
          {
            type: "button",
            onclick: tried(async () => save(await (await ask(url)).blob(), artifact.file_name)),
          },
          "Download",
        ),
      ),
    ),
    code,
  );
  await showVersion(newest, newest > 1);
}

/**
 * @param {string} text
 * @param {string} path
 */
function sourceLines(text, path) {
  return lines(highlight(text, path)).map((tokens, index) =>
    make(
      "span",
      { "data-line": String(index + 1) },
      ...tokens.map(([kind, part]) => {
        if (kind === "") return part;
        return make("span", { className: kind === "name" ? "name-token" : kind }, part);
      }),
    ),
  );
}

/**
 * @param {string} before
 * @param {string} after
 */
function diffOf(before, after) {
  let line = 0;
  return diffLines(before, after).map(({ kind, text }) => {
    if (kind !== "old") line += 1;
    const spoken =
      kind === "same"
        ? undefined
        : make("span", { className: "unseen" }, kind === "old" ? "removed: " : "added: ");
    return make(
      "span",
      { className: kind, "data-line": kind === "old" ? "" : String(line) },
      spoken,
      text,
    );
  });
}

/**
 * @param {HTMLElement} more
 * @param {any} task
 */
function renderMore(more, task) {
  const isThere = more.childElementCount > 0;
  if (task.state !== "completed") return more.replaceChildren();
  if (isThere) return;
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
            const input = String(new FormData(event.target).get("input"));
            const button = event.target.querySelector("button");
            button.disabled = true;
            const editing = post(`/tasks/${task.task_id}/steps`, {
              input,
              additional_input: { continue: true },
            });
            setTimeout(changed, 200);
            await editing.finally(() => (button.disabled = false));
            event.target.reset();
            changed();
          }),
        },
        make("textarea", {
          name: "input",
          required: true,
          "aria-label": "What is to be changed?",
          placeholder: "What is to be changed?",
        }),
        make("div", {}, make("button", { className: "primary" }, "Change")),
      ),
    ),
  );
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function save(blob, name) {
  const href = URL.createObjectURL(blob);
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/* Which view. */

function show() {
  leave.abort();
  leave = new AbortController();
  const [, taskId, fileId] =
    /^#\/tasks\/([\da-f-]{36})(?:\/files\/([\da-f-]{36}))?$/.exec(location.hash) ?? [];
  if (taskId === undefined) showNewTask();
  else showTask(taskId, fileId).catch(showProblem);
  void refreshTasks();
}

at("newer").addEventListener("click", () => {
  pageFromEnd -= 1;
  void refreshTasks();
});
at("older").addEventListener("click", () => {
  pageFromEnd += 1;
  void refreshTasks();
});
at("forget").addEventListener("click", () => {
  setToken(undefined);
  location.reload();
});
addEventListener("hashchange", show);
setInterval(() => {
  if (document.visibilityState === "visible" && main.querySelector(".sign") === null) {
    void refreshTasks();
  }
}, 5_000);
show();
