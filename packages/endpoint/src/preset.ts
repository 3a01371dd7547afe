/** Conventions of one vendor's API where the rules leave a choice. */
export interface VendorPreset {
  /** Name in media types: `application/vnd.<vendor>.v3+json`. */
  readonly vendor: string;
  /** Put before every url that is not absolute. */
  readonly baseUrl: string;
  /** How `method` is written in the result. Default: `"lower"`. */
  readonly methodCase?: "lower" | "upper";
  /** Query parameters in whose values `+` stays unencoded, as separator. Default: none. */
  readonly plusParameters?: readonly string[];
  /** Whether a final slash is dropped unless it is the whole path. Default: `false`. */
  readonly stripSlash?: boolean;
  /** Treatment of a url that lacks a variable of its path. Default: `"throw"`. */
  readonly onMissing?: "empty" | "throw";
}

/** The default. Its `baseUrl` is a placeholder: set your own. */
export const vendorPreset: VendorPreset = { vendor: "vendor", baseUrl: "{base_url}" };

/** GitHub's REST and GraphQL API, with missing variables left out as by GitHub's own client. */
export const githubPreset: VendorPreset = {
  vendor: "github",
  baseUrl: "https://api.github.com",
  methodCase: "upper",
  plusParameters: ["q"],
  stripSlash: true,
  onMissing: "empty",
};
