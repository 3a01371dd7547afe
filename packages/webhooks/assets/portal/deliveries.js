import { listDeliveries, replay } from "./api.js";
import { announce, button, labelled, make, stateLabel, timeOf, tried } from "./elements.js";

/** @typedef {import("./api.js").Delivery} Delivery */

const page = 20;
const most = 100;
const reasons = {
  expired: "Given up after the last attempt.",
  gone: "Given up, because the endpoint responded with 410.",
  disabled: "Given up, because the endpoint was disabled.",
  removed: "Given up, because the endpoint was removed.",
};

/**
 * Makes the list of the deliveries of an endpoint.
 *
 * @param {string} endpointId
 */
export function deliveryList(endpointId) {
  let limit = page;
  /** @type {ReadonlyMap<string, { readonly text: string, readonly item: HTMLElement }>} */
  let shown = new Map();
  const list = make("ol", { className: "deliveries" });
  const none = make("p", { hidden: true }, "There are no deliveries.");
  const filter = make(
    "select",
    { change: () => void tried(refresh) },
    make("option", { value: "" }, "all"),
    ...["pending", "delivered", "dead"].map((status) => make("option", {}, status)),
  );
  const more = button("Show more", () => {
    limit = most;
    return refresh();
  });

  /** Resolves to whether a delivery is pending. */
  async function refresh() {
    const deliveries = await listDeliveries(endpointId, filter.value, limit);
    const before = shown;
    // What has not changed stays as it is, with its focus.
    shown = new Map(
      deliveries.map((delivery) => {
        const text = JSON.stringify(delivery);
        const old = before.get(delivery.id);
        return [
          delivery.id,
          old?.text === text ? old : { text, item: itemOf(delivery, old?.item) },
        ];
      }),
    );
    const focused = document.activeElement?.closest("li")?.dataset["id"];
    const items = [...shown.values()].map(({ item }) => item);
    if (
      items.some((item, index) => list.children[index] !== item) ||
      items.length !== list.childElementCount
    ) {
      list.replaceChildren(...items);
      if (focused !== undefined) shown.get(focused)?.item.querySelector("summary")?.focus();
    }
    none.hidden = items.length > 0;
    more.hidden = items.length < limit || limit === most;
    return deliveries.some(({ status }) => status === "pending");
  }

  /** Shows for some seconds how deliveries go on, until the view is left. */
  async function watch() {
    for (let turn = 0; turn < 10 && list.isConnected && (await refresh()); turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  /**
   * @param {Delivery} delivery
   * @param {HTMLElement | undefined} old
   */
  function itemOf({ id, eventName, status, createdAt, attempts, history, deadReason, dueAt }, old) {
    const count = `${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
    const again = button("Replay", async () => {
      await replay(endpointId, id);
      announce("It is delivered again.");
      await watch();
    });
    // A delivery that waits for another one has no time yet.
    const next = status === "pending" && !dueAt.startsWith("9999") ? timeOf(dueAt) : undefined;
    return make(
      "li",
      { "data-id": id },
      make(
        "details",
        { open: old?.querySelector("details")?.open ?? false },
        make(
          "summary",
          {},
          stateLabel(status),
          make("code", {}, eventName),
          timeOf(createdAt),
          count,
        ),
        deadReason === undefined ? undefined : make("p", {}, reasons[deadReason]),
        next && make("p", {}, "Next attempt: ", next),
        make("ol", { className: "attempts" }, ...history.map(attemptItem)),
        status === "pending" ? undefined : again,
      ),
    );
  }

  const element = make(
    "section",
    {},
    make("h2", {}, "Deliveries"),
    make("div", { className: "row" }, labelled("Status", filter), button("Refresh", refresh)),
    none,
    list,
    more,
  );
  return { element, refresh, watch };
}

/** @param {Delivery["history"][number]} attempt */
function attemptItem({ at, duration, status, error, reason, excerpt }) {
  return make(
    "li",
    {},
    timeOf(at),
    ` ${status ?? error ?? ""} after ${duration} ms`,
    reason === undefined ? undefined : make("p", {}, reason),
    excerpt === undefined ? undefined : make("pre", {}, excerpt),
  );
}
