import { createEndpoint, listEndpoints, listEventTypes, takeTokens } from "./api.js";
import { at, button, make, stateLabel, tried } from "./elements.js";
import { endpointForm } from "./endpoint-form.js";
import { showEndpoint } from "./endpoint-view.js";

/** @typedef {import("./api.js").Endpoint} Endpoint */

/** The secret of a new endpoint, until it is shown. It is nowhere else. */
/** @type {{ id: string, secret: string } | undefined} */
let created;

/** @param {Endpoint} endpoint */
function endpointItem({ id, url, description, status, events }) {
  return make(
    "li",
    {},
    make("a", { href: `#/endpoints/${id}` }, url),
    stateLabel(status),
    description === undefined ? undefined : make("p", {}, description),
    make("p", { className: "soft" }, events?.join(", ") ?? "all events"),
  );
}

async function showList() {
  const list = make("ul", { className: "endpoints" });
  const more = button("Show more", load);
  async function load() {
    const { endpoints, total } = await listEndpoints(list.childElementCount);
    list.append(...endpoints.map(endpointItem));
    more.hidden = endpoints.length === 0 || list.childElementCount >= total;
  }
  await load();
  const none = make("p", {}, "There are no endpoints yet. Add the URL that should get events.");
  return [heading("Endpoints"), list.childElementCount === 0 ? none : list, more];
}

async function showNew() {
  const form = endpointForm({
    eventTypes: await listEventTypes(),
    button: "Add",
    save: async (input) => {
      const { id, secret } = await createEndpoint(input);
      created = { id, secret };
      location.hash = `#/endpoints/${id}`;
    },
  });
  return [heading("Add an endpoint"), form];
}

/** @param {string} text */
function heading(text) {
  return make("h1", { tabIndex: -1 }, text);
}

/** Counts views, so that a slow one does not replace the next. */
let views = 0;

function show() {
  views += 1;
  const view = views;
  const [, id] = /^#\/endpoints\/([\w-]{1,64})$/.exec(location.hash) ?? [];
  const secret = id === created?.id ? created?.secret : undefined;
  created = undefined;
  void tried(async () => {
    const content =
      id !== undefined
        ? await showEndpoint(id, secret)
        : await (location.hash === "#/new" ? showNew() : showList());
    if (view !== views) return;
    at("main").replaceChildren(...content);
    at("main").querySelector("h1")?.focus();
  });
}

takeTokens(show);
addEventListener("hashchange", show);
show();
