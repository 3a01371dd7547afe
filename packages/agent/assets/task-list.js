import { listTasks, NeedsToken, token } from "./api.js";
import { at, make, shortTime, stateLabel } from "./elements.js";
import { showProblem } from "./tried.js";

const size = 20;
/** Which page of tasks is shown, counted from the newest. */
let pageFromEnd = 0;

/**
 * Goes through the pages.
 *
 * @param {-1 | 1 | "newest"} where
 */
export function turnPage(where) {
  pageFromEnd = where === "newest" ? 0 : pageFromEnd + where;
  void refreshTasks();
}

/** Reads the list again. */
export function refreshTasks() {
  return showTasks().catch(lost);
}

/**
 * Says that the server is away, which is no reason to give up.
 *
 * @param {unknown} error
 */
export function lost(error) {
  if (error instanceof NeedsToken) showProblem(error);
  else at("connection").textContent = "The server cannot be reached; trying again.";
}

async function showTasks() {
  const first = await listTasks(1, size);
  const pages = Math.max(1, first.pagination.total_pages);
  pageFromEnd = Math.min(pageFromEnd, pages - 1);
  const page = pages - pageFromEnd;
  const shown = page === 1 ? first : await listTasks(page, size);
  const [, current = ""] = location.hash.split("/tasks/");
  const items = shown.tasks.toReversed().map((task) =>
    make(
      "li",
      {},
      make(
        "a",
        {
          href: `#/tasks/${task.task_id}`,
          "aria-current": current.startsWith(task.task_id) ? "page" : undefined,
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
