// @ts-check
import { defineConfig } from "vitepress";
import { miniSearch } from "../search-options.ts";
import { sideBar } from "../side-bar.ts";
import { slugify } from "../slugify.ts";
import { repositoryOf } from "../../scripts/published-manifest.ts";
import { root } from "../../scripts/workspace-packages.ts";

const source = repositoryOf(root);

export default defineConfig({
  title: "Fetchwork",
  description: "A self-hosted back end in TypeScript",
  lang: "en",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "node_modules/.cache/vitepress",
  // The icon is no file of another host, and not asked for at /favicon.ico.
  head: [["link", { rel: "icon", href: "data:," }]],
  lastUpdated: false,
  // Addresses of a running program are examples; everything else must exist.
  ignoreDeadLinks: [/^https?:\/\/localhost/],
  markdown: { anchor: { slugify }, languageAlias: { caddyfile: "nginx" } },
  themeConfig: {
    outline: [2, 3],
    search: { provider: "local", options: { miniSearch } },
    nav: [
      { text: "Tutorial", link: "/tutorial" },
      { text: "Guides", link: "/deploy" },
      { text: "Packages", link: "/packages/rest/" },
      { text: "Reference", link: "/reference/" },
      { text: "Errors", link: "/errors" },
    ],
    sidebar: sideBar(),
    ...(source === undefined ? {} : { socialLinks: [{ icon: "git", link: source }] }),
  },
});
