/** What the API says of itself. */
export const about = { name: "blog", title: "Blog", version: "1.0.0" } as const;
