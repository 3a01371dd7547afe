import { parseSync, Visitor } from "rolldown/utils";
import { expect, it } from "vitest";
import { tableRows } from "../scripts/markdown.ts";
import { readText } from "../scripts/workspace-packages.ts";

const page = readText("docs/own-routes.md");

/** The names in the first column of the table under a heading. */
function namesUnder(heading: string): readonly string[] {
  const section = page.split(/^(?=## )/m).find((text) => text.startsWith(`## ${heading}`));
  if (section === undefined) return expect.fail(`no heading ${heading}`);
  return tableRows(section)
    .flatMap(([cell = ""]) => Array.from(cell.matchAll(/`(\w+)/g), ([, name = ""]) => name))
    .toSorted();
}

/** The names of the properties and methods of an interface. */
function membersOf(path: string, wanted: string): readonly string[] {
  const names: string[] = [];
  new Visitor({
    TSInterfaceDeclaration({ id, body }) {
      if (id.name !== wanted) return;
      for (const member of body.body) {
        if ("key" in member && member.key.type === "Identifier") names.push(member.key.name);
      }
    },
  }).visit(parseSync(path, readText(path)).program);
  expect(names).not.toEqual([]);
  return names.toSorted();
}

it("The page about custom routes has every property of a route", () => {
  expect(namesUnder("`defineRoute`")).toEqual(
    membersOf("packages/rest/src/plan/route.ts", "RouteDefinition"),
  );
});

it("The page about custom routes has every property of a Call", () => {
  const ofServices = membersOf("packages/service/src/service-parts.ts", "CallServices");
  const all = [...membersOf("packages/rest/src/resource/call.ts", "Call"), ...ofServices];
  expect(namesUnder("`Call`")).toEqual(all.toSorted());
});

it("The page about custom routes has every hook", () => {
  expect(namesUnder("Hooks")).toEqual(
    membersOf("packages/rest/src/resource/hooks.ts", "ResourceHooks"),
  );
});
