import starlight from '@astrojs/starlight';
export default defineConfig({ integrations: [starlight({ title: 'Links' })] });
