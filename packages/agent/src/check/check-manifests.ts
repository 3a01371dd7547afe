import { isObject } from "@fetchwork/kit";
import { nameOf, nodeAt, walk } from "./ast.ts";
import { quote } from "./check-imports.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { ProjectFiles } from "./project-files.ts";
import type { PackageManifest, ProjectManifests } from "./project-manifests.ts";
import { folderOf, joinPath } from "./resolve-import.ts";

/** Files and permissions that package.json, the manifest of a browser extension or of a web application name. */
export function checkManifests(
  project: ProjectFiles,
  manifests: ProjectManifests,
): readonly Diagnostic[] {
  const found = manifests.all.flatMap((manifest) => checkPackage(manifest, project));
  for (const [path, value] of project.json) {
    if (/(?:^|\/)manifest\.json$/.test(path) && "manifest_version" in value) {
      found.push(...checkExtension(path, value, project));
    } else if (/(?:^|\/)(?:manifest\.json|[^/]*\.webmanifest)$/.test(path)) {
      found.push(...missing(path, iconsOf(value), project));
    }
  }
  return found;
}

function missing(
  path: string,
  names: readonly string[],
  { paths, source }: ProjectFiles,
): readonly Diagnostic[] {
  return names.flatMap((name) => {
    const plain = name.replace(/[?#].*$/, "");
    const target = joinPath(folderOf(path), plain);
    if (target === undefined || target === "" || paths.has(target) || plain.includes("*"))
      return [];
    const line = lineWith(source(path), name);
    const message = `it names ${quote(name)}, which does not exist`;
    return [{ path, line, code: "missing-file" as const, message, severity: "error" as const }];
  });
}

function lineWith(text: string, part: string): number | undefined {
  const at = text.indexOf(part);
  return at === -1 ? undefined : text.slice(0, at).split("\n").length;
}

const isBuilt = /(?:^|\/)(?:dist|build|out|lib|target)\//;

function checkPackage(manifest: PackageManifest, project: ProjectFiles): readonly Diagnostic[] {
  const { path, value, scripts } = manifest;
  const { main, bin } = value;
  const entries = [
    ...textsOf(main),
    ...textsOf(bin),
    ...(isObject(bin) ? Object.values(bin).flatMap(textsOf) : []),
  ].filter((entry) => !isBuilt.test(entry) && /\.[a-z]+$/.test(entry));
  const run = [...scripts.values()].flatMap((script) =>
    Array.from(
      script.matchAll(
        /(?:^|&&|\|\||;|\s)(?:node|nodemon|tsx|ts-node|bun)\s+(?:-[\w-]+(?:=\S+)?\s+)*([\w@./-]+\.[cm]?[jt]s)\b/g,
      ),
      ([, file = ""]) => file,
    ).filter(
      (file) => !isBuilt.test(file) && !file.includes("node_modules") && !/\bcd\s/.test(script),
    ),
  );
  return missing(path, [...new Set([...entries, ...run])], project);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.flatMap(textsOf) : [];
}

function fieldsOf(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}

function valuesOf(value: unknown): readonly string[] {
  if (isObject(value)) return Object.values(value).flatMap(textsOf);
  return textsOf(value);
}

function iconsOf(value: unknown): readonly string[] {
  const icons = fieldsOf(value, "icons");
  if (!Array.isArray(icons)) return valuesOf(icons);
  return icons.flatMap((icon: unknown) =>
    textsOf(fieldsOf(icon, "src")).map((src) => src.replace(/^\//, "")),
  );
}

function checkExtension(
  path: string,
  value: Readonly<Record<string, unknown>>,
  project: ProjectFiles,
): readonly Diagnostic[] {
  const action = value["action"] ?? value["browser_action"] ?? value["page_action"];
  const scripts = value["content_scripts"];
  const content = Array.isArray(scripts) ? (scripts as readonly unknown[]) : [];
  const names = [
    ...textsOf(fieldsOf(value, "background", "service_worker")),
    ...textsOf(fieldsOf(value, "background", "scripts")),
    ...textsOf(fieldsOf(value, "background", "page")),
    ...content.flatMap((entry) => [
      ...textsOf(fieldsOf(entry, "js")),
      ...textsOf(fieldsOf(entry, "css")),
    ]),
    ...textsOf(fieldsOf(action, "default_popup")),
    ...valuesOf(fieldsOf(action, "default_icon")),
    ...textsOf(value["options_page"]),
    ...textsOf(fieldsOf(value, "options_ui", "page")),
    ...textsOf(value["devtools_page"]),
    ...textsOf(fieldsOf(value, "side_panel", "default_path")),
    ...valuesOf(fieldsOf(value, "chrome_url_overrides")),
    ...iconsOf(value),
  ];
  const version = value["manifest_version"];
  const place = { path, code: "manifest", severity: "error" } as const;
  const faults: Diagnostic[] = [];
  for (const key of ["name", "version"]) {
    if (typeof value[key] !== "string") faults.push({ ...place, message: `it has no ${key}` });
  }
  if (version !== 2 && version !== 3) {
    faults.push({ ...place, message: "its manifest_version is neither 2 nor 3" });
  }
  return [
    ...faults,
    ...missing(path, [...new Set(names)], project),
    ...checkPermissions(path, value, project),
  ];
}

/** Parts of `chrome` that are undefined without the permission of their name. */
const needPermission: Readonly<Record<string, string>> = {
  alarms: "alarms",
  bookmarks: "bookmarks",
  contextMenus: "contextMenus",
  cookies: "cookies",
  downloads: "downloads",
  history: "history",
  idle: "idle",
  notifications: "notifications",
  scripting: "scripting",
  sidePanel: "sidePanel",
  storage: "storage",
  webNavigation: "webNavigation",
};

function checkPermissions(
  path: string,
  value: Readonly<Record<string, unknown>>,
  project: ProjectFiles,
): readonly Diagnostic[] {
  const granted = new Set([
    ...textsOf(value["permissions"]),
    ...textsOf(value["optional_permissions"]),
  ]);
  const used = new Map<string, string>();
  for (const { program, path: script } of project.scripts) {
    walk(program, (node) => {
      const owner = nameOf(nodeAt(node, "object"));
      const api = nameOf(nodeAt(node, "property"));
      if ((owner !== "chrome" && owner !== "browser") || api === undefined) return;
      const permission = Object.hasOwn(needPermission, api) ? needPermission[api] : undefined;
      if (permission !== undefined && !granted.has(permission)) used.set(permission, script);
    });
  }
  return [...used].map(([permission, script]) => ({
    path,
    code: "manifest",
    message: `${script} needs the permission ${quote(permission)}, which it does not ask for`,
    severity: "error",
    related: script,
  }));
}
