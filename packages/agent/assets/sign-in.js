import { listTasks, NeedsToken, setToken } from "./api.js";
import { at, make } from "./elements.js";
import { said, tried } from "./tried.js";

/**
 * Asks for the token.
 *
 * @param {() => void} signedIn
 */
export function showSignIn(signedIn) {
  const main = at("main");
  if (main.querySelector(".sign") !== null) return;
  const field = make("input", {
    type: "password",
    name: "token",
    required: true,
    autocomplete: "current-password",
  });
  main.replaceChildren(
    make(
      "form",
      {
        className: "sign",
        onsubmit: tried(async (event) => {
          setToken(said(event).text("token").trim());
          await listTasks(1, 1).catch((/** @type {unknown} */ error) => {
            setToken(undefined);
            throw error instanceof NeedsToken ? new Error("The token is wrong.") : error;
          });
          signedIn();
        }),
      },
      make("h2", {}, "This server asks for its token"),
      make("label", {}, "Token", field, make("small", {}, "It is kept until this tab is closed.")),
      make("div", {}, make("button", { className: "primary" }, "Sign in")),
    ),
  );
  field.focus();
}
