import { announce, at, button, make, timeOf } from "../portal/elements.js";

/**
 * What the listener keeps of a delivery; `version` counts from 1, and one that can be replayed has
 * a `number`.
 *
 * @typedef {{ version: number, at: string, id: string, event: string, verified?: boolean, status:
 *   number, reason?: string, bytes: number, payload: string, headers: readonly (readonly [string,
 *   string])[], number?: number }} Delivery
 * @typedef {{ status: number, milliseconds: number, reason?: string }} Reply
 * @typedef {{ deliveries: readonly Delivery[], forwardsTo?: string }} News
 */

/** Deliveries that are shown; the listener keeps as many. */
const maximumShown = 20;

/** It is behind the `#`, which no browser sends and no log has. */
const token = location.hash.slice(1);

/**
 * @param {string} path
 * @param {string} [method]
 * @returns {Promise<unknown>}
 */
async function ask(path, method = "GET") {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(path, { method, headers }).catch(() => {
    throw new Error("fetchwork webhooks listen does not respond. Is it still running?");
  });
  if (response.ok) return response.json();
  throw new Error(
    response.status === 401
      ? "Open the link that fetchwork webhooks listen printed."
      : `${response.status} ${await response.text()}`,
  );
}

/** @param {Delivery} delivery */
function signatureOf({ verified }) {
  if (verified === undefined) return make("span", { className: "state" }, "unverified");
  const state = verified ? "delivered" : "dead";
  const text = verified ? "verified" : "wrong signature";
  return make("span", { className: "state", "data-state": state }, text);
}

/** @param {Delivery} delivery */
function rowOf(delivery) {
  const { event, id, status, bytes, reason, headers, payload, number } = delivery;
  const result = make("span", { className: "soft" });
  const summary = make(
    "summary",
    {},
    make("strong", {}, event),
    signatureOf(delivery),
    make("span", {}, `${status}, ${bytes} B`),
    timeOf(delivery.at),
  );
  const details = make(
    "details",
    {},
    summary,
    id === "" ? undefined : make("p", { className: "soft" }, id),
    make(
      "pre",
      { role: "group", ariaLabel: "Headers" },
      headers.map((pair) => pair.join(": ")).join("\n"),
    ),
    make("pre", { role: "group", ariaLabel: "Payload" }, payload),
  );
  const replay = button("Replay", async () => {
    const reply = /** @type {Reply} */ (await ask(`listen/replay?number=${number}`, "POST"));
    result.textContent = `${reply.status} in ${reply.milliseconds} ms ${reply.reason ?? ""}`;
    announce(`Replayed: ${result.textContent}`);
  });
  return make(
    "li",
    {},
    details,
    reason === undefined ? undefined : make("p", { className: "bad" }, reason),
    number === undefined ? undefined : make("div", { className: "row" }, replay, result),
  );
}

let version = 0;

async function refresh() {
  const news = /** @type {News} */ (await ask(`listen/deliveries?after=${version}`));
  const { deliveries, forwardsTo } = news;
  at("forwarding").textContent =
    forwardsTo === undefined
      ? "Not forwarded. Start with --forward URL to replay deliveries."
      : `Forwarded to ${forwardsTo}`;
  const list = at("deliveries");
  for (const delivery of deliveries) {
    version = delivery.version;
    list.prepend(rowOf(delivery));
  }
  while (list.children.length > maximumShown) list.lastElementChild?.remove();
}

let isBroken = false;

for (;;) {
  try {
    await refresh();
    if (isBroken) at("problem").textContent = "";
    isBroken = false;
  } catch (error) {
    isBroken = true;
    at("problem").textContent = error instanceof Error ? error.message : String(error);
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}
