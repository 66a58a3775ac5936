export default defineConfig({
  redirects: { '/before': '/guide', '/far': 'https://example.org/', '/deep/old': { status: 302, destination: '/guide/' } },
  integrations: [starlight({ title: 'Light' })],
});
