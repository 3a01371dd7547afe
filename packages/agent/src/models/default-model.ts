/** The model that is asked when neither a call, a provider nor `FETCHWORK_MODEL` names one. */
export const defaultModel = "gpt-5.5";

/** The model of Anthropic that is asked when nothing names one. */
export const defaultAnthropicModel = "claude-sonnet-5-5";
