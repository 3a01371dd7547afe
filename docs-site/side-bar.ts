import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type SitePage, sitePages } from "./site-pages.ts";
import { staged } from "./stage-pages.ts";

/** One line of the side bar. */
export interface SideBarItem {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly SideBarItem[];
}

/** The side bar: the sections with their pages; the API reference opens by package. */
export function sideBar(): readonly SideBarItem[] {
  const sections = Map.groupBy(
    sitePages().filter(({ section }) => section !== undefined),
    ({ section = "" }) => section,
  );
  return [...sections].map(([text, pages]) => ({
    text,
    collapsed: text !== "Start" && text !== "Guides",
    items: [
      ...(text === "Reference" ? referenceItems() : []),
      ...(text === "Packages" ? packageItems(pages) : pages.map(itemOf)),
    ],
  }));
}

/** A package opens with its README, then its guides. */
function packageItems(pages: readonly SitePage[]): readonly SideBarItem[] {
  const packages = Map.groupBy(pages, ({ source }) =>
    basename(dirname(source.replace("packages/", "docs/"))),
  );
  return [...packages].map(([, [readme, ...guides]]) => ({
    ...(readme === undefined ? { text: "" } : itemOf(readme)),
    ...(guides.length > 0 && { collapsed: true, items: guides.map(itemOf) }),
  }));
}

function itemOf({ title, page }: SitePage): SideBarItem {
  return { text: title, link: linkOf(page) };
}

function referenceItems(): readonly SideBarItem[] {
  const folder = join(staged, "reference");
  if (!existsSync(folder)) return [];
  const entries = globSync("**/*.md", { cwd: folder, exclude: ["index.md"] }).map((file) => ({
    text: /^# (.+)$/m.exec(readFileSync(join(folder, file), "utf8"))?.[1] ?? file,
    link: linkOf(`reference/${file.replaceAll("\\", "/")}`),
  }));
  const packages = Map.groupBy(
    entries.toSorted((one, other) => (one.text < other.text ? -1 : 1)),
    ({ text }) => text.split("/", text.startsWith("@") ? 2 : 1).join("/"),
  );
  return [
    { text: "API", link: "/reference/" },
    ...[...packages].map(([name, items]) =>
      items.length === 1 ? { ...items[0], text: name } : { text: name, collapsed: true, items },
    ),
  ];
}

function linkOf(page: string): string {
  return `/${page.replace(/(?:index)?\.md$/, "")}`;
}
