export default {
  title: 'Small Press',
  locales: {
    root: { lang: 'en' },
    fr: { lang: 'fr' },
  },
}
