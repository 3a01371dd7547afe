// The reference page: Swagger UI, and a sign-in whose token stays in the memory of this page.
// The server writes `settings` in front of this file.
/* global document, fetch, matchMedia, settings, SwaggerUIBundle */
(() => {
  const { signIn, ...source } = settings;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const showColors = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", showColors);
  showColors();

  const account = signIn && showAccount(signIn);
  const ui = SwaggerUIBundle({
    ...source,
    dom_id: "#reference",
    deepLinking: true,
    // The validator badge would send the address of the document to another host.
    validatorUrl: null,
    plugins: [
      { afterLoad: keepSamplesPlain },
      { statePlugins: { spec: { wrapActions: { updateJsonSpec: sendNoDefaults } } } },
    ],
    requestInterceptor: (request) => {
      account?.note(request);
      return request;
    },
    responseInterceptor: (response) => {
      account?.check(response);
      return response;
    },
  });
  openDialogAtFirstField();

  /**
   * Swagger UI sends the defaults of parameters as if the reader had chosen them, so it does not
   * get to know them.
   */
  function sendNoDefaults(update) {
    return (document) => {
      for (const path of Object.values(document.paths ?? {})) {
        for (const { parameters = [] } of Object.values(path)) {
          for (const { schema } of parameters) delete schema?.default;
        }
      }
      return update(document);
    };
  }

  /**
   * Samples of bodies have the required fields only, and nothing that is made up from a pattern.
   */
  function keepSamplesPlain({ fn }) {
    const { getSampleSchema } = fn;
    fn.getSampleSchema = (schema, type, config, example) => {
      const plain = schema?.toJS?.() ?? schema;
      const isRequest = config?.includeWriteOnly === true;
      // A field of a form: the reader fills it in.
      if (isRequest && type === false) return [plain?.type].flat().includes("array") ? "[]" : "";
      return getSampleSchema(sampled(plain, isRequest), type, config, example);
    };
  }

  function sampled(schema, isRequest) {
    if (Array.isArray(schema)) return schema.map((one) => sampled(one, isRequest));
    if (typeof schema !== "object" || schema === null) return schema;
    const { pattern: _, ...plain } = schema;
    const { properties, required = [] } = plain;
    for (const key of ["items", "oneOf", "anyOf", "allOf"]) {
      if (key in plain) plain[key] = sampled(plain[key], isRequest);
    }
    if (properties) {
      const shown = Object.entries(properties)
        .filter(([name]) => !isRequest || required.includes(name))
        .map(([name, property]) => [name, sampled(property, isRequest)]);
      plain.properties = Object.fromEntries(shown);
    }
    if (isRequest && (properties || "additionalProperties" in plain)) {
      plain.additionalProperties = false;
    }
    return plain;
  }

  /** Every field of the dialog takes the focus when it appears, so the last one has it. */
  function openDialogAtFirstField() {
    document.addEventListener("click", ({ target }) => {
      if (!target.closest(".authorize, .authorization__btn")) return;
      setTimeout(() => {
        document.querySelector(".modal-ux-content")?.scrollTo(0, 0);
        document.querySelector(".modal-ux-content input")?.focus();
      });
    });
  }

  /** Shows the form, or who is signed in. */
  function showAccount({ path, needsMasterKey, signOutPath }) {
    const section = document.querySelector("#account");
    const [form, signedIn, message] = section.children;
    const { email, password, masterKey, totp } = form.elements;
    let token;
    section.hidden = false;
    needed(masterKey, needsMasterKey);
    needed(totp, false);
    show();

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void once(form, begin);
    });
    signedIn.querySelector("button").addEventListener("click", () => void once(signedIn, end));

    let isSent = false;
    return {
      /** Remembers whether a request has the token: other credentials may be refused, too. */
      note({ headers }) {
        isSent = headers?.Authorization === `Bearer ${token}`;
      },
      /** Notices that the session has ended, such as by an operation on this page. */
      check({ headers, status }) {
        const isRefused = /error="?invalid_token/.test(headers?.["www-authenticate"] ?? "");
        if (isSent && status === 401 && isRefused) forget("Your session has ended.");
      },
    };

    async function begin() {
      const basic = new TextEncoder().encode(`${email.value}:${password.value}`);
      const response = await fetch(path, {
        method: "POST",
        // Otherwise browsers ask for the password themselves after a wrong one.
        credentials: "omit",
        headers: {
          authorization: `Basic ${btoa(String.fromCharCode(...basic))}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({
          ...(needsMasterKey ? { access_token: masterKey.value } : {}),
          ...(totp.value === "" ? {} : { totp: totp.value }),
        }),
      });
      const answer = await response.json();
      if (answer.param === "totp") needed(totp, true);
      if (!response.ok) throw new Error(answer.detail);
      token = answer.token;
      ui.preauthorizeApiKey("token", token);
      signedIn.querySelector("strong").textContent = answer.user.email;
      form.reset();
      needed(totp, false);
      show();
    }

    async function end() {
      const authorization = `Bearer ${token}`;
      const response = await fetch(signOutPath, { method: "DELETE", headers: { authorization } });
      // With 401 the session has ended before.
      if (!response.ok && response.status !== 401) throw new Error((await response.json()).detail);
      forget("");
    }

    function forget(reason) {
      token = undefined;
      ui.authActions.logout(["token"]);
      show(reason);
    }

    function show(text = "") {
      form.hidden = token !== undefined;
      signedIn.hidden = token === undefined;
      message.textContent = text;
    }

    function needed(input, isNeeded) {
      input.required = isNeeded;
      input.parentElement.hidden = !isNeeded;
    }

    async function once(element, action) {
      const button = element.querySelector("button");
      button.disabled = true;
      try {
        await action();
      } catch (error) {
        message.textContent =
          error instanceof TypeError ? "The server cannot be reached." : sentence(error.message);
      } finally {
        button.disabled = false;
      }
    }
  }

  function sentence(text) {
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }
})();
