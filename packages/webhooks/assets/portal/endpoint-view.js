import {
  changeEndpoint,
  getEndpoint,
  listEventTypes,
  removeEndpoint,
  rotateSecret,
  sendTest,
} from "./api.js";
import { deliveryList } from "./deliveries.js";
import { announce, at, button, labelled, make, stateLabel, timeOf } from "./elements.js";
import { endpointForm } from "./endpoint-form.js";

/** @typedef {import("./api.js").Endpoint} Endpoint */
/** @typedef {import("./api.js").EventType} EventType */

const hour = 3_600_000;
const overlaps = /** @type {const} */ ([
  ["for 24 hours", 24 * hour],
  ["for 1 hour", hour],
  ["for 7 days", 168 * hour],
  ["no longer", 0],
]);
const reasons = {
  manual: "Disabled by hand.",
  gone: "Disabled, because it responded with 410.",
  failing: "Disabled, because every attempt failed for too long.",
};

/**
 * Makes the view of an endpoint.
 *
 * @param {string} id
 * @param {string | undefined} secret Of one that was just added.
 */
export async function showEndpoint(id, secret) {
  const [endpoint, eventTypes] = await Promise.all([getEndpoint(id), listEventTypes()]);
  const deliveries = deliveryList(id);
  const title = make("h1", { tabIndex: -1 });
  const state = make("div", { className: "row" });
  const form = endpointForm({
    endpoint,
    eventTypes,
    button: "Save",
    save: async (change) => {
      renew(await changeEndpoint(id, change));
      announce("Saved.");
    },
  });

  /** @param {Endpoint} now */
  function renew({ url, status, disabledReason, failingSince }) {
    title.textContent = url;
    const isEnabled = status === "enabled";
    const change = button(isEnabled ? "Disable" : "Enable", async () => {
      renew(await changeEndpoint(id, { status: isEnabled ? "disabled" : "enabled" }));
      announce(isEnabled ? "Disabled." : "Enabled.");
      state.querySelector("button")?.focus();
    });
    state.replaceChildren(
      stateLabel(status),
      ...(disabledReason === undefined ? [] : [reasons[disabledReason]]),
      ...(failingSince === undefined ? [] : ["Failing since ", timeOf(failingSince)]),
      change,
      removal(id),
    );
  }
  renew(endpoint);
  await deliveries.refresh();
  return [
    title,
    state,
    secretSection(id, secret),
    testSection(id, eventTypes ?? [], deliveries.watch),
    deliveries.element,
    make("section", {}, make("h2", {}, "Change"), form),
  ];
}

/**
 * Asks again in the same place, since an embedded page has no dialogs.
 *
 * @param {string} id
 */
function removal(id) {
  const place = make("span", { className: "row" });
  const ask = button("Remove", () => {
    const sure = button(
      "Remove for ever",
      async () => {
        await removeEndpoint(id);
        // Nothing in the view asks for the endpoint any more.
        at("main").replaceChildren();
        location.hash = "#/";
      },
      "bad",
    );
    place.replaceChildren(
      sure,
      button("Keep", () => {
        place.replaceChildren(ask);
        ask.focus();
      }),
    );
    sure.focus();
  });
  place.append(ask);
  return place;
}

/**
 * @param {string} id
 * @param {string | undefined} secret
 */
function secretSection(id, secret) {
  const place = make("div", { className: "secret" });
  const overlap = make(
    "select",
    {},
    ...overlaps.map(([text, value]) => make("option", { value: String(value) }, text)),
  );
  /** @param {string} text */
  function reveal(text) {
    const shown = make("input", { readOnly: true, value: text, focus: () => shown.select() });
    place.replaceChildren(
      labelled("Secret", shown, "Shown only now. Keep it where your program reads it."),
      button("Copy", async () => {
        await navigator.clipboard.writeText(text);
        announce("Copied.");
      }),
      button("Done", () => place.replaceChildren()),
    );
    return shown;
  }
  if (secret !== undefined) reveal(secret);
  const rotate = button("Rotate the secret", async () => {
    const rotated = await rotateSecret(id, Number(overlap.value));
    reveal(rotated.secret).focus();
    announce("There is a new secret.");
  });
  const row = make("div", { className: "row" }, labelled("The old one signs too", overlap), rotate);
  return make("section", {}, make("h2", {}, "Secret"), place, row);
}

/**
 * @param {string} id
 * @param {readonly EventType[]} types
 * @param {() => Promise<void>} onSent
 */
function testSection(id, types, onSent) {
  const testable = types.filter(({ example }) => example !== undefined);
  if (testable.length === 0) return make("div", { hidden: true });
  const choice = make("select", {}, ...testable.map(({ name }) => make("option", {}, name)));
  const send = button("Send a test event", async () => {
    await sendTest(id, choice.value);
    announce("The test event is on its way.");
    await onSent();
  });
  const row = make("div", { className: "row" }, labelled("Event type", choice), send);
  return make("section", {}, make("h2", {}, "Test"), row);
}
