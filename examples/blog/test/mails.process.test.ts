import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { masterKey } from "./api-client.ts";
import { openMailServer } from "../../../packages/service/test/mail/mail-server.ts";
import { startServer } from "./server-process.ts";

const email = "ada@example.com";

it("a mail that was asked for is sent by the next process when the first one is killed", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "blog-mails-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const mails = await openMailServer();
  const environment = {
    DATABASE_URL: `sqlite:${path.join(folder, "blog.db")}`,
    SMTP_URL: `smtp://127.0.0.1:${mails.port}?tls=no`,
    MAIL_FROM: "no-reply@api.example",
    RESET_LINK_ORIGINS: "https://www.api.example",
  };
  const first = await startServer(environment);
  const post = async (place: string, form: Record<string, string>): Promise<number> => {
    const body = new URLSearchParams({ ...form, access_token: masterKey });
    return (await fetch(`${first.origin}${place}`, { method: "POST", body })).status;
  };
  expect(await post("/users", { email, password: "123456" })).toBe(201);
  const link = "https://www.api.example/reset";
  expect(await post("/password-resets", { email, link })).toBe(202);
  first.child.kill("SIGKILL");
  await first.end;
  expect(mails.taken).toEqual([]);

  await startServer(environment);
  const mail = await mails.next();
  expect(mail.to).toEqual([email]);
  expect(mail.text).toMatch(/\/reset\/[\w-]{43}\s/);
});
