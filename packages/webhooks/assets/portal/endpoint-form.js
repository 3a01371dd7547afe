import { labelled, make, tried } from "./elements.js";

/** @typedef {import("./api.js").Endpoint} Endpoint */
/** @typedef {import("./api.js").EventType} EventType */

/**
 * Makes the form of an endpoint.
 *
 * @param {object} parts
 * @param {Endpoint} [parts.endpoint] Absent for a new one.
 * @param {readonly EventType[] | undefined} parts.eventTypes Absent when everything can be sent.
 * @param {string} parts.button
 * @param {(input: object) => Promise<void>} parts.save
 */
export function endpointForm({ endpoint, eventTypes, button, save }) {
  const { url = "", description = "", events, headerNames = [] } = endpoint ?? {};
  const urlInput = make("input", { type: "url", required: true, value: url, maxLength: 2048 });
  const descriptionInput = make("input", { value: description, maxLength: 500 });
  const eventsInput = eventTypes === undefined ? namesInput(events) : choices(events, eventTypes);
  const headersInput = make("textarea", { rows: 2, spellcheck: false, autocomplete: "off" });
  const dropInput = make("input", { type: "checkbox" });
  const known = headerNames.join(", ");
  const submit = make("button", { className: "primary" }, button);

  async function send() {
    const headers = headersOf(headersInput.value);
    const drops = dropInput.checked ? { headers: null } : {};
    await save({
      url: urlInput.value,
      // A new endpoint has nothing to remove.
      description: descriptionInput.value || null,
      events: eventsInput.read(),
      ...(headers === undefined ? drops : { headers }),
    });
  }

  return make(
    "form",
    {
      submit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void tried(send, submit);
      },
    },
    labelled("URL", urlInput),
    labelled("Description", descriptionInput),
    eventsInput.element,
    labelled(
      "Headers",
      headersInput,
      known === ""
        ? "One per line, such as authorization: Bearer …"
        : `${known} stay as they are unless you write headers here, which replace all of them.`,
    ),
    known === ""
      ? undefined
      : make("label", { className: "choice" }, dropInput, "Remove all headers"),
    submit,
  );
}

/** @param {string} text */
function headersOf(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.indexOf(":");
      if (end < 1) throw new Error("A header needs a name, a colon and a value.");
      return [line.slice(0, end).trim(), line.slice(end + 1).trim()];
    }),
  );
}

/**
 * For a sender without a catalogue.
 *
 * @param {readonly string[] | undefined} events
 */
function namesInput(events) {
  const input = make("textarea", { rows: 3, value: events?.join("\n") ?? "", spellcheck: false });
  const hint = "One name per line, such as order or order.*; empty for all events.";
  const read = () => {
    const names = input.value
      .split("\n")
      .map((name) => name.trim())
      .filter(Boolean);
    return names.length === 0 ? null : names;
  };
  return { element: labelled("Events", input, hint), read };
}

/**
 * @param {readonly string[] | undefined} events
 * @param {readonly EventType[]} types
 */
function choices(events, types) {
  const all = make("input", { type: "checkbox", checked: events === undefined, change: follow });
  const known = new Set(types.map(({ name }) => name));
  const others = (events ?? []).filter((name) => !known.has(name)).map((name) => ({ name }));
  const boxes = [...types, ...others].map((type) => {
    const checked = events?.includes(type.name) ?? false;
    return { type, box: make("input", { type: "checkbox", checked }) };
  });
  function follow() {
    for (const { box } of boxes) box.disabled = all.checked;
  }
  follow();
  const element = make(
    "fieldset",
    {},
    make("legend", {}, "Events"),
    make("label", { className: "choice" }, all, "All events"),
    ...boxes.map(({ type: { name, ...rest }, box }) => {
      const text = "description" in rest ? rest.description : undefined;
      const note = text === undefined ? undefined : make("small", {}, text);
      return make("label", { className: "choice" }, box, make("code", {}, name), note);
    }),
  );
  const read = () =>
    all.checked ? null : boxes.filter(({ box }) => box.checked).map(({ type: { name } }) => name);
  return { element, read };
}
