export default defineConfig({
  title: 'Small',
  srcDir: 'src',
  srcExclude: ['en/drafts/**', '**/made.md'],
  rewrites: {'en/:rest*': ':rest*'},
  locales: {root: {label: 'English', lang: 'en-US'}, zh: {label: 'x', lang: 'zh-Hans'}, es: {label: 'y', link: 'https://es.example.org'}},
  themeConfig: {sidebar: sidebar()},
})
function sidebar() {
  return [{text: 'Guide', items: [{text: 'Start', link: '/guide/start'}]}]
}
