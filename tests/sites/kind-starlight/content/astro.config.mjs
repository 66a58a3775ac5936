import locales from './locales.json';
export default defineConfig({site: 'https://small.example', base: '/docs', integrations: [starlight({title: 'Small', locales, sidebar: [{label: 'Go', items: ['guide']}, {label: 'All', autogenerate: {directory: 'more'}}]})]});
