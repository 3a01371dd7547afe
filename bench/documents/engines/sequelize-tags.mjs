// Tags, groups and a counter of Sequelize. What it has no words for, the fields of the document, is
// literal SQL.
import { Sequelize } from "sequelize";

const { fn, literal, Op } = Sequelize;
const RANK = "((doc ->> 'rank')::float8)";

/** Takes the model, the attributes to read, all ids, and what reads a row. */
export function openTags({ Doc, attributes, ids, read }) {
  return {
    async tagged(tag) {
      const where = { tags: { [Op.contains]: [tag] } };
      const order = [
        [literal(RANK), "DESC"],
        ["id", "DESC"],
      ];
      const found = await Doc.findAll({ attributes, where, order, limit: 31 });
      return found.slice(0, 30).map(read);
    },
    async sums() {
      const sums = await Doc.findAll({
        attributes: [
          [literal("doc ->> 'state'"), "state"],
          [fn("sum", literal("(doc ->> 'views')::numeric")), "views"],
        ],
        group: [literal("1")],
        raw: true,
      });
      return sums.map(({ state, views }) => ({ state, views: Number(views) }));
    },
    async increment(number) {
      const views = "to_jsonb((doc ->> 'views')::numeric + 1)";
      const [, [changed]] = await Doc.update(
        {
          doc: literal(`jsonb_set(doc, '{views}', ${views})`),
          version: literal("version + 1"),
          updatedAt: new Date().toISOString(),
        },
        { where: { id: ids[number] }, returning: true },
      );
      return read(changed);
    },
  };
}
