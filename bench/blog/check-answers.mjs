// Every server answers the same, and those that claim to check refuse what the blog refuses.
import assert from "node:assert";
import { article, searched, total } from "./sample-articles.mjs";

/** Returns the identifier of an article. */
export async function checkAnswers({ name, server, origin, headers }) {
  const get = async (target) => {
    const answer = await fetch(`${origin}${target}`);
    assert.equal(answer.status, 200, `${name} answers ${target} with ${answer.status}`);
    return answer.json();
  };
  const listed = server.rows(await get(server.list));
  assert.equal(listed.length, 30, `${name} lists ${listed.length}`);
  for (const word of searched) {
    const found = server.rows(await get(server.search(word)));
    assert.equal(found.length, 20, `${name} finds ${found.length} for ${word}`);
    for (const { content } of found) assert.ok(content.includes(word), `${name} finds others`);
  }
  const [{ title }] = listed;
  const id = server.idOf?.(listed[0]) ?? listed[0].id;
  const shown = server.row(await get(server.show(id)));
  assert.equal(shown.title, title);
  assert.equal(shown.content, article(Number(title.split(" ").at(-1))).content);
  if (!server.refuses) return id;
  const stranger = await server.create(article(total)).fetch(origin);
  assert.ok([401, 403].includes(stranger.status), `${name} takes articles of strangers`);
  const untitled = await server.create({ content: "x" }).fetch(origin, headers);
  assert.equal(untitled.status, 400, `${name} takes articles without a title`);
  const long = await server.create({ title: "x".repeat(201) }).fetch(origin, headers);
  assert.equal(long.status, 400, `${name} takes titles of any length`);
  return id;
}
