module.exports = {title: 'Versions', i18n: {defaultLocale: 'en', locales: ['en', 'fr']},
  presets: [['classic', {docs: {lastVersion: '1.x'}}]]};
