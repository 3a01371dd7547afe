/** What the API says of itself. */
export const about = { name: "my-api", title: "My API", version: "1.0.0" } as const;
