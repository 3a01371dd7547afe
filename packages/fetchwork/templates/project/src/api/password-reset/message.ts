// #if resets
import { about } from "../../about.ts";
import type { Mail } from "../../services/mailer.ts";

/** Writes the mail with a link. The name is the user's own words, and stays text wherever it is shown. */
export function resetMail(to: string, name: string, link: string): Mail {
  // A line break, or a mark that turns the direction, could make a name look like a message of ours.
  const shownName = name.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  const hello = `Hello ${shownName},`;
  const before = "with this link you choose a new password, once and within an hour:";
  const after = "If you did not ask for it, ignore this mail: your password stays as it is.";
  return {
    to,
    subject: `${about.title} - Password reset`,
    text: `${hello}\n\n${before}\n\n${link}\n\n${after}\n`,
    html: `<p>${escape(hello)}</p><p>${escape(before)}</p><p><a href="${escape(link)}">${escape(link)}</a></p><p>${escape(after)}</p>`,
  };
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}
// #endif
