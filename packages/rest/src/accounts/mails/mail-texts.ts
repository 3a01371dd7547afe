import { escapeHtml } from "@fetchwork/kit";

/** Subject and content of a mail. */
export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Facts that a mail is written with. */
export interface MailFacts {
  /** Name of the application. */
  readonly title: string;
  /** The user's own words, on one line and without marks that turn the direction of the text. */
  readonly name: string;
  /** Page to open, with the token. Empty in a mail that only tells something. */
  readonly link: string;
}

/** Writes a mail. The function has to escape its `html` itself: see {@link escapeHtml}. */
export type MailWriter = (facts: MailFacts) => MailText;

/** The mails of accounts. */
export interface AccountTexts {
  /** To set a lost password. */
  readonly passwordReset: MailWriter;
  /** To confirm the address of a sign-up, or another address. */
  readonly confirmEmail: MailWriter;
  /** To the former address of a user who has another one now. */
  readonly emailChanged: MailWriter;
  /** To a user with whose address somebody tried to sign up. */
  readonly knownAddress: MailWriter;
}

/** The mails as they are unless a project writes its own. */
export const accountTexts: AccountTexts = {
  passwordReset: writer("Password reset", [
    "with this link you choose a new password, once and within an hour:",
    "If you did not ask for it, ignore this mail: your password stays as it is.",
  ]),
  confirmEmail: writer("Confirm your address", [
    "with this link you confirm that this address is yours, once and within a day:",
    "If you did not ask for it, ignore this mail: nothing changes.",
  ]),
  emailChanged: writer("Your address has changed", [
    "your account has another email address now, and this one no more.",
    "If it was not you, answer this mail.",
  ]),
  knownAddress: writer("You have an account already", [
    "somebody, perhaps you, tried to sign up with this address, which has an account already.",
    "If you have lost your password, ask for a new one; otherwise ignore this mail.",
  ]),
};

/** A name as one line: a line break or a direction mark in it could imitate text of ours. */
export function nameInMail(name: string): string {
  return name.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
}

function writer(subject: string, [before, after]: readonly [string, string]): MailWriter {
  return ({ title, name, link }) => {
    const lines = [`Hello ${name},`, before, ...(link === "" ? [] : [link]), after];
    const html = lines.map((line) => {
      const shown = escapeHtml(line);
      return `<p>${line === link ? `<a href="${shown}">${shown}</a>` : shown}</p>`;
    });
    return {
      subject: `${title} - ${subject}`,
      text: `${lines.join("\n\n")}\n`,
      html: html.join(""),
    };
  };
}
