export default defineConfig({integrations: [starlight({title: 'Nested'})]});
