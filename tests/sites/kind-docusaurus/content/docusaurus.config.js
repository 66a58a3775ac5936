// A program: nothing of it is run.
import {themes} from 'x';
const base = process.env.BASE || '/app/';
export default {
  title: 'Small',
  baseUrl: base,
  i18n: {defaultLocale: 'en', locales: ['en', 'fr']},
  presets: [['classic', {docs: {sidebarPath: './sidebars.js'}, blog: {routeBasePath: 'news'}}]],
};
