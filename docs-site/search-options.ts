/**
 * How the offline search ranks: options of MiniSearch, sent to the browser as text. Guides stand
 * before the reference, and that before pages for contributors, which have the same words more
 * often.
 */
export const miniSearch = {
  searchOptions: {
    fuzzy: 0.2,
    prefix: true,
    boost: { title: 4, text: 2, titles: 1 },
    boostDocument: (id: string): number => {
      if (/^\/(?:architecture|benchmarks|changelog|conformance|contributing|decisions)\b/.test(id))
        return 0.2;
      return id.startsWith("/reference/") ? 0.4 : 1;
    },
  },
};
