import { generateCodeSync } from "./generate-code-sync.ts";
import { generateCode } from "./generate-code.ts";
import { specifyFilePaths } from "./specify-file-paths.ts";

/** `specifyFilePaths` under the specification's name. */
export const specify_file_paths: typeof specifyFilePaths = specifyFilePaths;

/** `generateCode` under the specification's name. */
export const generate_code: typeof generateCode = generateCode;

/** `generateCodeSync` under the specification's name. */
export const generate_code_sync: typeof generateCodeSync = generateCodeSync;
