const bar = [{ text: 'Guide', items: [{ text: 'One', link: '/a/one' }, { text: 'Two', link: '/b/two' }] }];
export default defineConfig({
  title: 'Shared',
  themeConfig: {
    sidebar: { '/a/': bar, '/b/': bar, '/c/': [{ text: 'Other', items: [{ text: 'One', link: '/a/one' }] }] },
  },
});
