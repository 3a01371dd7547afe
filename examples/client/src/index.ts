import { HttpError } from "@fetchwork/http";
import { BlogApi } from "./blog-api.ts";

const baseUrl = process.env["BLOG_URL"] ?? "http://127.0.0.1:9000";
const masterKey = process.env["MASTER_KEY"] ?? "";

try {
  await tour(new BlogApi(baseUrl));
} catch (error) {
  if (!(error instanceof HttpError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  console.error("Start the blog with `npm start`; BLOG_URL and MASTER_KEY say where it is.");
  process.exitCode = 1;
}

/** Does once what a client of a blog does; a second run works as well. */
async function tour(blog: BlogApi): Promise<void> {
  const account = { email: `ada-${crypto.randomUUID()}@example.com`, password: "analytical" };
  const user = await blog.createUser(account, masterKey);
  console.log(`created the user ${user.email}`);

  const token = await blog.signIn(account, masterKey);
  console.log("signed in");

  const title = "Notes on the Engine";
  const article = await blog.write({ title, content: "It weaves algebraic patterns." }, token);
  console.log(`wrote "${article.title}"`);

  const { articles, total } = await blog.find("engine", 5);
  console.log(`found ${articles.length} of ${total}: ${articles[0]?.title}`);

  console.log((await blog.remove(article.id, token)) ? "removed it" : "it was gone");
  console.log((await blog.remove(article.id, token)) ? "removed it twice" : "it is gone");
}
