// Which languages there are is what a function returns: it is not run.
const languages = () => {
  const all = process.env.LANGS ? process.env.LANGS.split(',') : ['ru', 'cn'];
  const locales = Array.from(new Set(['en', ...all]));
  return { defaultLocale: 'en', locales };
};
module.exports = {
  title: 'Small',
  i18n: languages(),
  presets: [['classic', {docs: {routeBasePath: '/', sidebarPath: require.resolve('./sidebars.js')}}]],
};
