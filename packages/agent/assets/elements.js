/** @param {string} id */
export function at(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`there is no #${id}`);
  return element;
}

/**
 * Makes an element. Text is only ever text.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} properties Listeners begin with `on`; what has a `-` or no
 * property of that name is an attribute.
 * @param {...(Node | string | undefined)} children
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (name in element && !name.includes("-")) Reflect.set(element, name, value);
    else if (typeof value === "string") element.setAttribute(name, value);
  }
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

/** @param {string} text */
export function announce(text) {
  at("announce").textContent = text;
}

/** @param {string} state */
export function stateLabel(state) {
  return make("span", { className: "state", "data-state": state }, state);
}

/** @param {string} time */
export function shortTime(time) {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString(undefined, { timeStyle: "short" })
    : date.toLocaleDateString(undefined, { dateStyle: "medium" });
}

/** @param {{ file_name: string, relative_path: string | null }} artifact */
export function pathOf({ file_name: name, relative_path: folder }) {
  return folder === null || folder === "." ? name : `${folder}/${name}`;
}

/** @param {number} bytes */
export function shortSize(bytes) {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576
    ? `${(bytes / 1_024).toFixed(1)} KiB`
    : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const href = URL.createObjectURL(blob);
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
