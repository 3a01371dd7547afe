import { posix, win32 } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { AgentError } from "../errors.ts";
import { fenced } from "../project/fenced.ts";

/** Prompt that an editor sends. */
export interface AskedPrompt {
  readonly request: string;
  /** Bytes of pictures. */
  readonly images: readonly Buffer[];
}

/**
 * Reads the blocks of a prompt: text as it is, links as paths, resources with their text.
 *
 * @throws AgentError `ERR_AGENT_EMPTY` for a prompt that says nothing
 */
export function readPromptBlocks(blocks: readonly ContentBlock[], folder: string): AskedPrompt {
  const texts: string[] = [];
  const resources: string[] = [];
  const images: Buffer[] = [];
  for (const block of blocks) {
    if (block.type === "text") texts.push(block.text);
    else if (block.type === "resource_link") texts.push(pathOf(block.uri, folder));
    else if (block.type === "image") images.push(Buffer.from(block.data, "base64"));
    else if (block.type === "resource" && "text" in block.resource) {
      const path = pathOf(block.resource.uri, folder);
      texts.push(path);
      resources.push(fenced(path, block.resource.text));
    }
  }
  const request = [texts.join(""), ...resources].join("\n\n").trim();
  if (request === "") throw new AgentError("ERR_AGENT_EMPTY", "the prompt has no text");
  return { request, images };
}

/** A path in the folder as the tools name it; anything else stays as it is. */
export function pathOf(
  uri: string,
  folder: string,
  windows: boolean = process.platform === "win32",
): string {
  if (!uri.startsWith("file:") || !URL.canParse(uri)) return uri;
  try {
    const paths = windows ? win32 : posix;
    const path = paths.relative(folder, fileURLToPath(uri, { windows }));
    // From another drive no relative path leads to the folder.
    return path.startsWith("..") || paths.isAbsolute(path) ? uri : path.split(paths.sep).join("/");
  } catch {
    return uri;
  }
}
