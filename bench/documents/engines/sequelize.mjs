// Sequelize, models in the manner of mongoose on PostgreSQL, over the table of bare pg. What it has
// no words for, the fields of the document and a row comparison, is literal SQL; the values are
// still its own.
import { DataTypes, Sequelize } from "sequelize";
import { newId } from "../sample.mjs";
import { openTags } from "./sequelize-tags.mjs";
import { schemaOf } from "./postgres-table.mjs";

const AUTHOR = "(doc ->> 'author')";
const RANK = "((doc ->> 'rank')::float8)";

export async function open({ url, search: isSearched, tags }) {
  const sequelize = new Sequelize(url, { logging: false, pool: { max: 10 } });
  await sequelize.query(schemaOf({ search: isSearched, tags }));
  const text = { type: DataTypes.TEXT, allowNull: false };
  const Doc = sequelize.define(
    "Doc",
    {
      id: { ...text, primaryKey: true },
      version: { type: DataTypes.BIGINT, allowNull: false },
      createdAt: { ...text, field: "created_at" },
      updatedAt: { ...text, field: "updated_at" },
      doc: { type: DataTypes.JSONB, allowNull: false },
      search: { type: DataTypes.TEXT },
      tags: { type: DataTypes.ARRAY(DataTypes.TEXT) },
    },
    { tableName: "docs", timestamps: false },
  );
  const ids = [];
  const attributes = { exclude: ["search", "tags"] };
  const byRank = [
    [sequelize.literal(RANK), "ASC"],
    ["id", "ASC"],
  ];
  const make = (doc) => {
    const now = new Date().toISOString();
    const search = isSearched ? `${doc.title}\n${doc.text}`.toLowerCase() : null;
    const row = { id: newId(), version: 1, createdAt: now, updatedAt: now, doc, search };
    return tags ? { ...row, tags: [...new Set(doc.tags)] } : row;
  };
  const read = ({ id, version, createdAt, updatedAt, doc }) => {
    return { id, version: Number(version), createdAt, updatedAt, ...doc };
  };
  const page = async (where) =>
    (await Doc.findAll({ attributes, where, order: byRank, limit: 31 })).slice(0, 30).map(read);
  return {
    async load(chunk) {
      const made = chunk.map(make);
      await Doc.bulkCreate(made);
      for (const { id } of made) ids.push(id);
    },
    loaded: () => sequelize.query("VACUUM (ANALYZE) docs"),
    get: async (number) => read(await Doc.findByPk(ids[number], { attributes })),
    list: async (author) => {
      const where = sequelize.where(sequelize.literal(AUTHOR), author);
      const order = [
        [sequelize.literal(RANK), "DESC"],
        ["id", "DESC"],
      ];
      return (await Doc.findAll({ attributes, where, order, limit: 30 })).map(read);
    },
    async pageAfter(count) {
      if (count === 0) return () => page(undefined);
      const place = sequelize.where(sequelize.literal(RANK), count - 1);
      const { id } = await Doc.findOne({ attributes: ["id"], where: place });
      const after = sequelize.literal(`(${RANK}, id) > (${count - 1}, ${sequelize.escape(id)})`);
      return () => page(after);
    },
    search: isSearched
      ? async (word) => {
          const where = { search: { [Sequelize.Op.like]: `%${word}%` } };
          const order = [
            ["createdAt", "DESC"],
            ["id", "DESC"],
          ];
          return (await Doc.findAll({ attributes, where, order, limit: 30 })).map(read);
        }
      : undefined,
    insert: async (document) => read(await Doc.create(make(document))),
    ...(tags && openTags({ Doc, attributes, ids, read })),
    close: () => sequelize.close(),
  };
}
