import locales from './locales.json';
export default defineConfig({site: 'https://small.example', base: '/docs', integrations: [starlight({title: 'Small', locales, sidebar: [{label: 'Go', items: ['guide', 'first/step', {label: 'Again', slug: 'nowhere/at/all'}]}, {label: 'All', autogenerate: {directory: 'more'}}]})]});
