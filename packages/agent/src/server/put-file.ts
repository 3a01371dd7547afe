import type { Collection, Stored, Transaction } from "@fetchwork/documents";
import { AgentError } from "../errors.ts";
import { foldPath, validateFilePath } from "../files/file-path.ts";
import { contentOf, removeContent, storeContent, type Content } from "./content-parts.ts";
import type { StepResult } from "./task-agent.ts";
import { taskCollections, type ArtifactRecord } from "./task-records.ts";

/** A file that is put into a task. */
export interface NewFile {
  /** Checked path. */
  readonly path: string;
  /** The folder as in `ArtifactRecord`. */
  readonly folder: string | null;
  readonly content: Content;
}

/** Older versions of a file are forgotten. */
const maxVersions = 100;

/**
 * Stores a file, as a new version where there is one of that path.
 *
 * @throws AgentError `ERR_AGENT_UNSAFE_PATH` as a rejection, where it conflicts with the files that
 * there are
 */
export async function putFile(
  tx: Transaction,
  { path, folder, content }: NewFile,
  owner: Pick<ArtifactRecord, "agentCreated" | "taskId">,
): Promise<Stored<ArtifactRecord>> {
  const artifacts = tx.collection(taskCollections.artifacts);
  const { taskId } = owner;
  await storeContent(tx, taskId, content);
  const version = { hash: content.hash, size: content.size };
  const [known] = await artifacts.find({ where: { taskId, path }, limit: 1 });
  if (known === undefined) {
    await checkNeighbours(artifacts, taskId, path);
    const key = foldPath(path);
    return artifacts.insert({ ...owner, path, key, folder, versions: [version] });
  }
  const same = known.versions.at(-1)?.hash === version.hash;
  const versions = same ? known.versions : [...known.versions, version].slice(-maxVersions);
  const updated = await artifacts.update(known.id, { ...owner, folder, versions });
  if (!same && known.versions.length >= maxVersions) {
    const forgotten = known.versions.slice(0, known.versions.length + 1 - maxVersions);
    const all = await artifacts.find({ where: { taskId } });
    const kept = new Set(all.flatMap((file) => file.versions.map(({ hash }) => hash)));
    for (const old of forgotten) {
      if (!kept.has(old.hash)) await removeContent(tx, { taskId, ...old });
    }
  }
  return updated ?? known;
}

/**
 * Checks what all files of a task have together.
 *
 * @throws AgentError `ERR_AGENT_LIMIT` as a rejection
 */
export async function checkTotal(
  tx: Transaction,
  taskId: string,
  maximum: number = Infinity,
): Promise<void> {
  if (maximum === Infinity) return;
  const files = await tx.collection(taskCollections.artifacts).find({ where: { taskId } });
  const total = files.reduce((sum, { versions }) => sum + (versions.at(-1)?.size ?? 0), 0);
  if (total <= maximum) return;
  const message = `the files of the task have ${total} bytes, more than the ${maximum} that are allowed`;
  throw new AgentError("ERR_AGENT_LIMIT", message);
}

/** Two files must not differ in case only, nor be file and folder: they could not be unpacked. */
async function checkNeighbours(
  artifacts: Collection<ArtifactRecord>,
  taskId: string,
  path: string,
): Promise<void> {
  const key = foldPath(path);
  const parents = key.split("/").map((_, index, segments) => segments.slice(0, index).join("/"));
  const above = { taskId, key: { in: [key, ...parents.slice(1)] } };
  const below = { taskId, key: { prefix: `${key}/` } };
  const [clash] = await artifacts.find({ where: above, limit: 1 });
  const [inside] = clash === undefined ? await artifacts.find({ where: below, limit: 1 }) : [];
  const refuse = (reason: string): never => {
    throw new AgentError("ERR_AGENT_UNSAFE_PATH", `the file ${path} cannot be stored: ${reason}`);
  };
  if (clash?.key === key) refuse(`it differs from ${clash.path} only in case`);
  if (clash !== undefined) refuse(`${clash.path} is a file`);
  if (inside !== undefined) refuse(`it is the folder of ${inside.path}`);
}

/**
 * The files of a step, their paths checked.
 *
 * @throws AgentError `ERR_AGENT_UNSAFE_PATH`
 */
export function newFiles({ files = [] }: StepResult): readonly NewFile[] {
  return files.map(({ path, content }) => {
    const checked = validateFilePath(path);
    if (!checked.ok) {
      throw new AgentError("ERR_AGENT_UNSAFE_PATH", `a file cannot be written: ${checked.reason}`);
    }
    const slash = checked.path.lastIndexOf("/");
    const folder = slash === -1 ? "." : checked.path.slice(0, slash);
    return { path: checked.path, folder, content: contentOf(content) };
  });
}
