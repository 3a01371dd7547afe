/** @typedef {import("../../src/node/sender/endpoints/endpoints.ts").WebhookEndpoint} Endpoint */
/** @typedef {import("../../src/node/sender/create-sender.ts").StoredDelivery} Delivery */
/**
 * @typedef {{ readonly name: string, readonly description?: string, readonly example?: object }}
 * EventType
 */

const parents = (document.documentElement.dataset["parents"] ?? "").split(" ");
/** @type {string | undefined} */
let token;

/**
 * Asks the API of the portal.
 *
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<unknown>} The JSON of a success.
 */
async function ask(method, path, body) {
  const response = await fetch(`api/${path}`, {
    method,
    headers: {
      ...(body && { "content-type": "application/json" }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.status === 204) return undefined;
  const said = /** @type {{ detail?: unknown }} */ (await response.json().catch(() => ({})));
  if (response.ok) return said;
  // Only who may embed the page hears the answer to this; the question has no secret.
  if (response.status === 401 && parent !== window) {
    parent.postMessage({ type: "webhook-portal:unauthorized" }, "*");
  }
  const detail = typeof said.detail === "string" ? said.detail : `status ${response.status}`;
  throw new Error(`Refused: ${detail}.`);
}

/**
 * Takes the bearer token of a page that embeds this one.
 *
 * @param {() => void} onToken Called when there is another one.
 */
export function takeTokens(onToken) {
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== parent || !parents.includes(origin)) return;
    const { type, token: given } = /** @type {{ type?: unknown, token?: unknown }} */ (data ?? {});
    if (type !== "webhook-portal:token" || typeof given !== "string" || given === token) return;
    token = given;
    onToken();
  });
}

export async function listEventTypes() {
  const { eventTypes } = /** @type {{ eventTypes: readonly EventType[] | null }} */ (
    await ask("GET", "event-types")
  );
  return eventTypes ?? undefined;
}

/** @param {number} offset */
export async function listEndpoints(offset) {
  const list = await ask("GET", `endpoints?limit=100&offset=${offset}`);
  return /** @type {{ endpoints: readonly Endpoint[], total: number }} */ (list);
}

/** @param {object} input */
export async function createEndpoint(input) {
  return /** @type {Endpoint & { secret: string }} */ (await ask("POST", "endpoints", input));
}

/** @param {string} id */
export async function getEndpoint(id) {
  return /** @type {Endpoint} */ (await ask("GET", `endpoints/${id}`));
}

/**
 * @param {string} id
 * @param {object} change
 */
export async function changeEndpoint(id, change) {
  return /** @type {Endpoint} */ (await ask("PATCH", `endpoints/${id}`, change));
}

/** @param {string} id */
export async function removeEndpoint(id) {
  await ask("DELETE", `endpoints/${id}`);
}

/**
 * @param {string} id
 * @param {number} overlap Milliseconds.
 */
export async function rotateSecret(id, overlap) {
  const rotated = await ask("POST", `endpoints/${id}/rotate-secret`, { overlap });
  return /** @type {Endpoint & { secret: string }} */ (rotated);
}

/**
 * @param {string} id
 * @param {string} eventType
 */
export async function sendTest(id, eventType) {
  await ask("POST", `endpoints/${id}/test`, { eventType });
}

/**
 * @param {string} id
 * @param {string} status All when empty.
 * @param {number} limit
 */
export async function listDeliveries(id, status, limit) {
  const filter = status === "" ? "" : `&status=${status}`;
  const list = await ask("GET", `endpoints/${id}/deliveries?limit=${limit}${filter}`);
  return /** @type {{ deliveries: readonly Delivery[] }} */ (list).deliveries;
}

/**
 * @param {string} id
 * @param {string} deliveryId
 */
export async function replay(id, deliveryId) {
  await ask("POST", `endpoints/${id}/deliveries/${deliveryId}/replay`);
}
