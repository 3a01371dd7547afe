import { describe, expect, it } from "vitest";
import { defineConfig, mailSettings } from "../../src/index.ts";
import { readMail, type MailPlace } from "../../src/mail/read-mail.ts";
import { origin } from "../../src/settings/setting.ts";

const development = { publicUrl: "http://localhost:9000", isProduction: false, hasAccounts: true };
const production = { publicUrl: "https://api.example", isProduction: true, hasAccounts: true };

const { read: readValues } = defineConfig({ ...mailSettings, PUBLIC_URL: origin().optional() });

function readPlace(
  environment: Readonly<Record<string, string>>,
  where: Parameters<typeof readMail>[1],
): MailPlace | undefined {
  return readMail(readValues(environment), where);
}

describe("readMail", () => {
  it("shows mails on the console in development, and has none in production", () => {
    expect(readPlace({}, development)).toEqual({
      smtp: undefined,
      from: "no-reply@localhost",
      linkOrigins: ["http://localhost:9000"],
    });
    expect(readPlace({ PUBLIC_URL: "https://api.example" }, production)).toBeUndefined();
  });

  it.each([
    ["smtp://mail.example", "mail.example", 587, "STARTTLS"],
    ["smtp://mail.example:25", "mail.example", 25, "STARTTLS"],
    ["smtp://mail.example:25?tls=no", "mail.example", 25, "none"],
    ["smtp://127.0.0.1:2525", "127.0.0.1", 2525, "none"],
    ["smtp://[::1]:2525", "::1", 2525, "none"],
    ["smtps://mail.example", "mail.example", 465, "TLS"],
    ["smtps://mail.example:4650/", "mail.example", 4650, "TLS"],
  ])("reads %s", (SMTP_URL, host, port, protection) => {
    const environment = { SMTP_URL, PUBLIC_URL: "https://api.example" };
    const smtp = readPlace(environment, production)?.smtp;
    expect(smtp).toEqual({
      host,
      port,
      isSecure: protection === "TLS",
      requiresTls: protection === "STARTTLS",
      auth: undefined,
    });
  });

  it("needs TLS for a password, also in development, but not for the machine itself", () => {
    const read = (SMTP_URL: string) => readPlace({ SMTP_URL }, development)?.smtp;
    const auth = { user: "a@b", pass: "p:w/" };
    expect(read("smtp://a%40b:p%3Aw%2F@mail.example")).toMatchObject({ requiresTls: true, auth });
    expect(read("smtp://mailpit:1025")).toMatchObject({ requiresTls: false, auth: undefined });
    expect(read("smtp://a:b@localhost:1025")).toMatchObject({ requiresTls: false });
  });

  it.each([
    ["http://mail.example", "SMTP_URL must be like"],
    ["mail.example", "SMTP_URL must be like"],
    ["smtp://", "SMTP_URL must be like"],
    ["smtp://mail.example/path", "SMTP_URL must be like"],
    ["smtp://mail.example?tls=yes", "SMTP_URL takes the parameter"],
    ["smtp://mail.example?tls=no&x=1", "SMTP_URL takes the parameter"],
    ["smtp://a:secret@mail.example?tls=no", "SMTP_URL has a password"],
    ["smtp://a:secret%@mail.example", "SMTP_URL has a %"],
  ])("refuses %s, and never repeats it", (SMTP_URL, message) => {
    const read = () => readPlace({ SMTP_URL, PUBLIC_URL: "https://api.example" }, production);
    expect(read).toThrow(message);
    expect(read).not.toThrow("secret");
  });

  it("needs to know where links may lead to, in production", () => {
    const environment = { SMTP_URL: "smtps://mail.example", MAIL_FROM: "api@example.com" };
    expect(() => readPlace(environment, production)).toThrow("RESET_LINK_ORIGINS");
    expect(readPlace(environment, { ...production, hasAccounts: false })).toMatchObject({
      from: "api@example.com",
    });
    const RESET_LINK_ORIGINS = "https://www.api.example, https://app.example:8443/,";
    const read = readPlace({ ...environment, RESET_LINK_ORIGINS }, production);
    expect(read?.linkOrigins).toEqual(["https://www.api.example", "https://app.example:8443"]);
  });

  it("needs a sender in production, where no address of the server says one", () => {
    const environment = { SMTP_URL: "smtps://mail.example" };
    const read = () => readPlace(environment, { ...production, hasAccounts: false });
    expect(read).toThrow("MAIL_FROM is not set");
    const PUBLIC_URL = "https://api.example";
    const known = readPlace({ ...environment, PUBLIC_URL }, production);
    expect(known?.from).toBe("no-reply@api.example");
  });

  it.each(["*", "api.example", "https://api.example/reset", "javascript:alert(1)", "null"])(
    "takes no %s for an origin",
    (RESET_LINK_ORIGINS) => {
      expect(() => readPlace({ RESET_LINK_ORIGINS }, development)).toThrow("not an origin");
    },
  );

  it.each(["", "name", "Name <a@b.example>", "a@b.example\r\nBcc: c@d.example", "a b@c"])(
    "takes an address alone for the sender, not %j",
    (MAIL_FROM) => {
      const read = () => readPlace({ MAIL_FROM }, development);
      if (MAIL_FROM === "") expect(read()?.from).toBe("no-reply@localhost");
      else expect(read).toThrow("MAIL_FROM");
    },
  );
});
