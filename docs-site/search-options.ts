/** How the offline search ranks: options of MiniSearch, which the test of the search has too. */
export const miniSearch = {
  searchOptions: {
    fuzzy: 0.2,
    prefix: true,
    boost: { title: 4, text: 2, titles: 1 },
  },
} as const;

/** Options of the search of VitePress. */
export const searchOptions = { miniSearch } as const;
