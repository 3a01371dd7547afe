const $ = (id) => document.getElementById(id);
const json = (body) => ({
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
async function call(method, path, init) {
  const response = await fetch(path, { method, ...init });
  const answer =
    response.status === 204 || response.status === 202 ? undefined : await response.json();
  if (!response.ok) throw new Error(answer.errors?.[0]?.message ?? answer.detail ?? answer.title);
  return answer;
}
const { create, get } = {
  create: "parseCreationOptionsFromJSON",
  get: "parseRequestOptionsFromJSON",
};
const passkey = async (kind, options) =>
  (
    await navigator.credentials[kind]({
      publicKey: PublicKeyCredential[kind === "create" ? create : get](options),
    })
  ).toJSON();
const actions = {
  async signUp({ email, password }) {
    await call(
      "POST",
      "/users",
      json({ email, password, link: `${location.origin}/page#confirm` }),
    );
    return "Look into your mailbox: with the link there you confirm your address.";
  },
  async confirm({ password }) {
    const [, token = ""] = location.hash.split("/");
    await call("PUT", `/email-changes/${encodeURIComponent(token)}`, json({ password }));
    return "The address is confirmed. Now sign in.";
  },
  async signIn({ email, password }) {
    const basic = btoa(String.fromCharCode(...new TextEncoder().encode(`${email}:${password}`)));
    await call("POST", "/auth/cookie", { headers: { authorization: `Basic ${basic}` } });
  },
  async usePasskey() {
    const response = await passkey("get", await call("POST", "/passkeys/sign-in-options"));
    await call("POST", "/passkeys/sign-in", json({ response, cookie: true }));
  },
  async addPasskey() {
    const response = await passkey("create", await call("POST", "/passkeys/registration-options"));
    await call("POST", "/passkeys", json({ name: navigator.platform || "Passkey", response }));
    return "The passkey is added.";
  },
  signOut: () => call("DELETE", "/auth/cookie"),
  end: ({ id }) => call("DELETE", `/users/me/sessions/${id}`),
};
async function act(name, values) {
  $("says").textContent = (await actions[name](values).catch((error) => error.message)) ?? "";
  await show();
}
async function show() {
  const me = await call("GET", "/users/me").catch(() => undefined);
  $("in").hidden = !me;
  $("out").hidden = Boolean(me);
  $("me").textContent = me?.email;
  const sessions = me ? await call("GET", "/users/me/sessions") : [];
  $("sessions").replaceChildren(
    ...sessions.map(({ id, method, isCurrent }) => {
      const item = document.createElement("li");
      item.append(
        `${method}${isCurrent ? ", here" : ""} `,
        Object.assign(document.createElement("button"), {
          textContent: "End",
          onclick: () => act("end", { id }),
        }),
      );
      return item;
    }),
  );
}
$("out").onsubmit = (event) => {
  event.preventDefault();
  void act(event.submitter.value, Object.fromEntries(new FormData(event.target)));
};
for (const id of ["addPasskey", "signOut"]) $(id).onclick = () => act(id, {});
void show();
