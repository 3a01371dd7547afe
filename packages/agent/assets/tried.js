import { NeedsToken } from "./api.js";
import { at, make } from "./elements.js";

/** Told to the document when the server asks for its token. */
export const needsToken = "fetchwork-needs-token";

/** @param {unknown} error */
export function showProblem(error) {
  if (error instanceof NeedsToken) {
    document.dispatchEvent(new Event(needsToken));
    return;
  }
  if (error instanceof DOMException && error.name === "AbortError") return;
  const text = error instanceof Error ? error.message : String(error);
  const main = at("main");
  main.querySelector(".problem")?.remove();
  main.prepend(make("p", { className: "problem", role: "alert" }, text));
}

/**
 * A listener that says what went wrong.
 *
 * @template {Event} E
 * @param {(event: E) => Promise<void>} work
 */
export function tried(work) {
  return (/** @type {E} */ event) => {
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

/**
 * What was said in a form.
 *
 * @param {Event} event Of the form.
 */
export function said({ currentTarget, target }) {
  const form = currentTarget ?? target;
  if (!(form instanceof HTMLFormElement)) throw new TypeError("this is no form");
  const data = new FormData(form);
  return {
    form,
    text: (/** @type {string} */ name) => {
      const value = data.get(name);
      return typeof value === "string" ? value : "";
    },
  };
}
