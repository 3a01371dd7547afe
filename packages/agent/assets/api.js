/** @typedef {import("../src/server/wire.ts").Task} Task */
/** @typedef {import("../src/server/wire.ts").Step} Step */
/** @typedef {import("../src/server/paging.ts").Pagination} Pagination */
/**
 * @typedef {{ step_id?: string, name?: string, text?: string, state?: string, error?: { message:
 * string } }} EventData
 */

const place = "fetchwork-token";

/** The token of this tab, if the server asked for one. */
export function token() {
  return sessionStorage.getItem(place);
}

/** @param {string | undefined} value */
export function setToken(value) {
  if (value === undefined) sessionStorage.removeItem(place);
  else sessionStorage.setItem(place, value);
}

/** The server wants a token, or another one. */
export class NeedsToken extends Error {}

/**
 * Asks the task API.
 *
 * @param {string} path Below `/agent`.
 * @param {RequestInit} [init]
 * @returns {Promise<Response>} A success.
 */
export async function ask(path, init = {}) {
  const headers = new Headers(init.headers);
  const known = token();
  if (known !== null) headers.set("authorization", `Bearer ${known}`);
  const response = await fetch(`/agent${path}`, { ...init, headers });
  if (response.ok) return response;
  const said = /** @type {{ message?: string }} */ (await response.json().catch(() => ({})));
  if (response.status === 401) throw new NeedsToken("The server asks for its token.");
  throw new Error(said.message ?? `The server answered ${response.status}.`);
}

/**
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<unknown>}
 */
async function askJson(path, init) {
  const response = await ask(path, init);
  return await response.json();
}

/**
 * @param {string} path
 * @param {object} [body]
 */
export function post(path, body) {
  if (body === undefined) return askJson(path, { method: "POST" });
  const headers = { "content-type": "application/json" };
  return askJson(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/**
 * @param {object} body
 * @returns {Promise<Task>}
 */
export async function createTask(body) {
  return /** @type {Task} */ (await post("/tasks", body));
}

/**
 * @param {number} page
 * @param {number} size
 */
export async function listTasks(page, size) {
  const list = await askJson(`/tasks?page_size=${size}&current_page=${page}`);
  return /** @type {{ tasks: readonly Task[], pagination: Pagination }} */ (list);
}

/**
 * @param {string} taskId
 * @returns {Promise<Task>}
 */
export async function getTask(taskId) {
  return /** @type {Task} */ (await askJson(`/tasks/${taskId}`));
}

/** @param {string} taskId */
export async function listSteps(taskId) {
  const list = await askJson(`/tasks/${taskId}/steps?page_size=1000`);
  return /** @type {{ steps: readonly Step[], pagination: Pagination }} */ (list);
}

/**
 * Follows the events of a task, over breaks of the connection, until the task ends or the signal
 * aborts.
 *
 * @param {string} taskId
 * @param {AbortSignal} signal
 * @param {(type: string, data: EventData) => void} listener
 */
export async function follow(taskId, signal, listener) {
  let last = "0";
  while (!signal.aborted) {
    try {
      const headers = { "last-event-id": last };
      const response = await ask(`/tasks/${taskId}/events`, { signal, headers });
      // Everything was told, and nothing will follow.
      if (response.status === 204) return;
      for await (const event of readEvents(response)) {
        if (event.id !== "") last = event.id;
        const data = /** @type {EventData} */ (JSON.parse(event.data));
        listener(event.type, data);
        if (["task.completed", "task.canceled", "task.deleted"].includes(event.type)) return;
        if (event.type === "task" && data.state === "completed") return;
      }
    } catch (error) {
      if (signal.aborted || error instanceof NeedsToken) return;
      listener("connection", {});
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/**
 * @param {Response} response
 * @yields Each event.
 */
async function* readEvents(response) {
  let text = "";
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const event = { id: "", type: "message", data: "" };
      for (const line of text.slice(0, end).split("\n")) {
        const [, field = "", rest = ""] = /^(\w*): ?(.*)$/.exec(line) ?? [];
        if (field === "id") event.id = rest;
        if (field === "event") event.type = rest;
        if (field === "data") event.data += rest;
      }
      text = text.slice(end + 2);
      if (event.data !== "") yield event;
    }
  }
}
