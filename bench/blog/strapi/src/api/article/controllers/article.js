// oxlint-disable-next-line typescript/no-require-imports -- Strapi loads CommonJS only.
const { factories } = require("@strapi/strapi");

module.exports = factories.createCoreController("api::article.article");
