import { ask } from "./api.js";
import { make, pathOf, save, shortSize } from "./elements.js";
import { highlight, lines } from "./highlight.js";
import { tried } from "./tried.js";

/** @typedef {import("../src/server/wire.ts").Artifact} Artifact */

/**
 * @param {string} taskId
 * @param {Artifact} artifact
 * @param {string | undefined} fileId
 */
export function fileLink(taskId, artifact, fileId) {
  const marks = [
    artifact.versions > 1 ? "changed" : "",
    artifact.agent_created ? "" : "uploaded",
    shortSize(artifact.size),
  ];
  return make(
    "a",
    {
      href: `#/tasks/${taskId}/files/${artifact.artifact_id}`,
      "aria-current": artifact.artifact_id === fileId ? "true" : undefined,
    },
    make("span", {}, pathOf(artifact)),
    make("span", { className: "meta" }, marks.filter((mark) => mark !== "").join(" · ")),
  );
}

/**
 * @param {HTMLElement} viewer
 * @param {string} taskId
 * @param {Artifact} artifact
 */
export async function renderFile(viewer, taskId, artifact) {
  const path = pathOf(artifact);
  const url = `/tasks/${taskId}/artifacts/${artifact.artifact_id}`;
  const code = make("pre", { className: "code", tabIndex: 0, "aria-label": path });
  const read = async (/** @type {number} */ version) => {
    const bytes = new Uint8Array(await (await ask(`${url}?version=${version}`)).arrayBuffer());
    return bytes.includes(0) ? undefined : new TextDecoder().decode(bytes);
  };
  const newest = artifact.versions;
  let wanted = 0;
  const showVersion = async (/** @type {number} */ version, /** @type {boolean} */ asDiff) => {
    wanted += 1;
    const own = wanted;
    if (artifact.size > 2_097_152) {
      code.replaceChildren(make("span", { "data-line": "" }, "Too large to show; download it."));
      return;
    }
    const text = await read(version);
    const changes =
      asDiff && text !== undefined
        ? await (await ask(`${url}?version=${version}&since=${version - 1}`)).text()
        : undefined;
    // Another version was chosen meanwhile.
    if (own !== wanted) return;
    if (text === undefined) {
      code.replaceChildren(make("span", { "data-line": "" }, "This is no text."));
      return;
    }
    code.replaceChildren(
      ...(changes === undefined ? sourceLines(text, path) : changedLines(changes)),
    );
  };
  const select = make(
    "select",
    {
      "aria-label": "What to show",
      onchange: tried(async (event) => {
        const { target } = event;
        if (!(target instanceof HTMLSelectElement)) return;
        const [version = "1", kind = ""] = target.value.split(" ");
        await showVersion(Number(version), kind === "diff");
      }),
    },
    ...Array.from({ length: newest }, (_, index) => newest - index).flatMap((version) => [
      ...(version > 1
        ? [make("option", { value: `${version} diff` }, `Changes of version ${version}`)]
        : []),
      make("option", { value: `${version} file` }, newest === 1 ? "File" : `Version ${version}`),
    ]),
  );
  viewer.replaceChildren(
    make(
      "h3",
      {},
      make("span", {}, path),
      make(
        "span",
        {},
        newest > 1 ? select : undefined,
        " ",
        make(
          "button",
          {
            type: "button",
            onclick: tried(async () => save(await (await ask(url)).blob(), artifact.file_name)),
          },
          "Download",
        ),
      ),
    ),
    code,
  );
  await showVersion(newest, newest > 1);
}

/**
 * @param {string} text
 * @param {string} path
 */
function sourceLines(text, path) {
  return lines(highlight(text, path)).map((tokens, index) =>
    make(
      "span",
      { "data-line": String(index + 1) },
      ...tokens.map(([kind, part]) => {
        if (kind === "") return part;
        return make("span", { className: kind === "name" ? "name-token" : kind }, part);
      }),
    ),
  );
}

/**
 * The lines of a diff, with their numbers in the new file.
 *
 * @param {string} diff
 */
function changedLines(diff) {
  let next = 0;
  return diff
    .split("\n")
    .slice(2, -1)
    .map((text) => {
      const start = /^@@ -\S+ \+(\d+)/.exec(text)?.[1];
      if (start !== undefined) {
        next = Number(start);
        return make("span", { className: "meta", "data-line": "" }, text);
      }
      const kind = text.startsWith("-") ? "old" : text.startsWith("+") ? "new" : "same";
      const line = kind === "old" || text.startsWith("\\") ? "" : String(next++);
      const spoken = { old: "removed: ", new: "added: ", same: "" }[kind];
      return make(
        "span",
        { className: kind, "data-line": line },
        spoken === "" ? undefined : make("span", { className: "unseen" }, spoken),
        text.slice(1),
      );
    });
}
