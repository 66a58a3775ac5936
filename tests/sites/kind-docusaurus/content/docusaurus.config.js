// A program: nothing of it is run.
import {themes} from 'x';
const base = process.env.BASE || '/app/';
export default {
  title: 'Small',
  baseUrl: base,
  i18n: {defaultLocale: 'en', locales: ['en', 'fr']},
  presets: [['classic', {docs: {sidebarPath: './sidebars.js'}, blog: {routeBasePath: 'news'}}]],
  plugins: [['@docusaurus/plugin-client-redirects', {redirects: [{from: ['/older', '/oldest'], to: '/docs/deep/2017'}, {from: '/far', to: 'https://example.org'}]}]],
};
