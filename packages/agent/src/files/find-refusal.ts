const start =
  /^(?:(?:i['’]m|i am) (?:\w+ )?sorry\b|sorry\b|i (?:cannot|can['’]t|can not|won['’]t|am (?:unable|not able) to)\b|i['’]m (?:unable|not able) to\b|unfortunately,? i\b|as an ai\b)/i;
const refuses =
  /\b(?:cannot|can['’]t|can not|won['’]t|unable to|not able to)\b.{0,80}?\b(?:help|assist|comply|provide|create|generate|write|produce|fulfil+|support|continue|do (?:that|this))\b/is;

/**
 * Whether an answer is a refusal in words that its server called a normal end. Only short texts are
 * looked at: a file that begins with an apology and goes on is a file.
 */
export function isRefusal(answer: string): boolean {
  const text = answer.trim();
  return text.length <= 1_500 && start.test(text) && refuses.test(text);
}
