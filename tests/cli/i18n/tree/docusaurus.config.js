module.exports = { title: 'T', url: 'https://e.org', baseUrl: '/', i18n: { defaultLocale: 'en', locales: ['en', 'fr'] } };
