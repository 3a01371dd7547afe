/** How a package manager makes a project and does its work there. */
export interface PackageManager {
  readonly name: "npm" | "pnpm" | "yarn";
  /** Makes the project `shop` in the working folder. */
  readonly create: readonly string[];
  /** What follows in the folder of the project, in this order. */
  readonly steps: readonly (readonly string[])[];
  /** The file in which it records where packages came from. */
  readonly lock: string;
}

const quiet = ["--yes", "--skip-git"];
const note = ["fetchwork", "add", "note", "text:string!:search"];

export const packageManagers: readonly PackageManager[] = [
  {
    name: "npm",
    create: ["npm", "create", "fetchwork", "shop", "--", ...quiet],
    steps: [
      ["npm", "exec", "--", ...note],
      ["npm", "test"],
      ["npm", "run", "lint"],
      ["npm", "run", "build"],
    ],
    lock: "package-lock.json",
  },
  {
    name: "pnpm",
    create: ["pnpm", "create", "fetchwork", "shop", ...quiet, "--skip-install"],
    steps: [
      ["pnpm", "install"],
      ["pnpm", "exec", ...note],
      ["pnpm", "test"],
      ["pnpm", "run", "lint"],
      ["pnpm", "run", "build"],
    ],
    lock: "pnpm-lock.yaml",
  },
  {
    name: "yarn",
    create: ["yarn", "create", "fetchwork", "shop", ...quiet, "--skip-install"],
    steps: [
      ["yarn", "install"],
      ["yarn", "run", ...note],
      ["yarn", "run", "test"],
      ["yarn", "run", "lint"],
      ["yarn", "run", "build"],
    ],
    lock: "yarn.lock",
  },
];
