/** @param {string} id */
export function at(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`there is no #${id}`);
  return element;
}

/**
 * Makes an element. A child that is a string is text, whatever it contains.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, unknown>>} [properties] A function listens to the event of that
 * name.
 * @param {...(Node | string | undefined)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") {
      element.addEventListener(name, /** @type {EventListener} */ (value));
    } else if (name.includes("-")) element.setAttribute(name, String(value));
    else if (value !== undefined) Reflect.set(element, name, value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/**
 * A button that does one thing at a time, and shows what went wrong.
 *
 * @param {string} text
 * @param {() => unknown} act
 * @param {string} [className]
 */
export function button(text, act, className = "") {
  const element = make(
    "button",
    {
      type: "button",
      className,
      click: () => void tried(act, element),
    },
    text,
  );
  return element;
}

/**
 * Runs an action. Its failure is shown, not thrown.
 *
 * @param {() => unknown} act
 * @param {HTMLElement} [cause] Takes no second click in between.
 */
export async function tried(act, cause) {
  if (cause?.ariaBusy === "true") return;
  if (cause !== undefined) cause.ariaBusy = "true";
  at("problem").textContent = "";
  at("announce").textContent = "";
  try {
    await act();
  } catch (error) {
    at("problem").textContent = error instanceof Error ? error.message : String(error);
    at("problem").scrollIntoView({ block: "nearest" });
  } finally {
    if (cause !== undefined) cause.ariaBusy = "false";
  }
}

/** @param {string} text */
export function announce(text) {
  at("announce").textContent = text;
}

/**
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [hint]
 */
export function labelled(label, control, hint) {
  const note = hint === undefined ? undefined : make("small", {}, hint);
  return make("label", {}, make("span", {}, label), note, control);
}

/** @param {string} state */
export function stateLabel(state) {
  return make("span", { className: "state", "data-state": state }, state);
}

/** @param {string} time */
export function timeOf(time) {
  const text = new Date(time).toLocaleString(undefined, {
    dateStyle: "medium",
    timeStyle: "medium",
  });
  return make("time", { dateTime: time }, text);
}
