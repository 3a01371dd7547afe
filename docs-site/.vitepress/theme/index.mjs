// @ts-check
import { withBase } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { h } from "vue";
import "./style.css";

/** The page of an unknown address: the default one has no landmark, and a link with two names. */
function notFound() {
  return h("main", { class: "not-found" }, [
    h("h1", "Page not found"),
    h("p", "The search has every page of this documentation."),
    h("a", { href: withBase("/") }, "To the start page"),
  ]);
}

/** @type {import("vitepress").Theme} */
const theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "not-found": notFound }),
};

export default theme;
