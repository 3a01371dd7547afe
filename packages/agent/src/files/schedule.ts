/** A file and what has to be written before it. */
export interface ScheduledFile {
  readonly path: string;
  /** Paths of files that it uses. Files that are not in the list do not matter. */
  readonly dependsOn: readonly string[];
}

/**
 * Orders files into levels: all that a file uses is in an earlier level. Files of one level can be
 * written at the same time. Files that use each other in a circle share a level. Within a level the
 * order of the list is kept.
 */
export function schedule(files: readonly ScheduledFile[]): string[][] {
  const known = new Map(files.map((file) => [file.path, file]));
  const groups = findCircles(known);
  const levels: string[][] = [];
  const levelOf = new Map<string, number>();
  // Tarjan's algorithm yields a group after every group that it depends on.
  for (const group of groups) {
    const members = new Set(group);
    const needed = group.flatMap((path) => known.get(path)?.dependsOn ?? []);
    const levelsBefore = needed
      .filter((path) => !members.has(path))
      .map((path) => levelOf.get(path) ?? -1);
    const level = levelsBefore.reduce((highest, next) => Math.max(highest, next), -1) + 1;
    for (const path of group) levelOf.set(path, level);
  }
  for (const path of known.keys()) {
    const level = levelOf.get(path) ?? 0;
    (levels[level] ??= []).push(path);
  }
  return levels;
}

interface Visit {
  readonly path: string;
  readonly needs: readonly string[];
  next: number;
}

/** Strongly connected components (Tarjan 1972), without recursion: 10,000 files are safe. */
function findCircles(files: ReadonlyMap<string, ScheduledFile>): readonly (readonly string[])[] {
  const groups: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const visits: Visit[] = [];

  const enter = (path: string): void => {
    const order = index.size;
    index.set(path, order);
    low.set(path, order);
    open.push(path);
    isOpen.add(path);
    const needs = (files.get(path)?.dependsOn ?? []).filter((needed) => files.has(needed));
    visits.push({ path, needs, next: 0 });
  };
  const lower = (path: string, to: number): void => {
    low.set(path, Math.min(low.get(path) ?? to, to));
  };

  for (const root of files.keys()) {
    if (index.has(root)) continue;
    enter(root);
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const needed = visit.needs[visit.next];
      visit.next += 1;
      if (needed !== undefined) {
        if (!index.has(needed)) enter(needed);
        else if (isOpen.has(needed)) lower(visit.path, index.get(needed) ?? 0);
        continue;
      }
      visits.pop();
      const parent = visits.at(-1);
      if (parent !== undefined) lower(parent.path, low.get(visit.path) ?? 0);
      if (low.get(visit.path) === index.get(visit.path)) {
        const group = open.splice(open.lastIndexOf(visit.path));
        for (const path of group) isOpen.delete(path);
        groups.push(group);
      }
    }
  }
  return groups;
}
