import { setToken } from "./api.js";
import { at } from "./elements.js";
import { showNewTask } from "./new-task.js";
import { showSignIn } from "./sign-in.js";
import { refreshTasks, turnPage } from "./task-list.js";
import { showTask } from "./task-view.js";
import { needsToken, showProblem } from "./tried.js";

/** Ends what belongs to the view that is left. */
let leave = new AbortController();

function show() {
  leave.abort();
  leave = new AbortController();
  const [, taskId, fileId] =
    /^#\/tasks\/([\da-f-]{36})(?:\/files\/([\da-f-]{36}))?$/.exec(location.hash) ?? [];
  if (taskId === undefined) showNewTask();
  else showTask(taskId, fileId, leave.signal).catch(showProblem);
  void refreshTasks();
}

at("newer").addEventListener("click", () => turnPage(-1));
at("older").addEventListener("click", () => turnPage(1));
at("forget").addEventListener("click", () => {
  setToken(undefined);
  location.reload();
});
document.addEventListener(needsToken, () => {
  leave.abort();
  showSignIn(show);
});
addEventListener("hashchange", show);
setInterval(() => {
  const asks = at("main").querySelector(".sign") !== null;
  if (document.visibilityState === "visible" && !asks) void refreshTasks();
}, 5_000);
show();
