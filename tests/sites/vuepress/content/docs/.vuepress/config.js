module.exports = {
  locales: {
    '/': { lang: 'en-US', title: 'Small', description: 'Of two languages' },
    '/ja/': { lang: 'ja', title: '小さい' },
  },
  themeConfig: { nav: [{ text: 'Guide', link: '/guide.html' }] },
}
