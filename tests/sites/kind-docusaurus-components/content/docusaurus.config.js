module.exports = {
  title: 'Notes',
  url: 'https://small.example',
  baseUrl: '/',
  i18n: {defaultLocale: 'en', locales: ['en', 'fr']},
  presets: [['classic', {docs: {}}]],
};
