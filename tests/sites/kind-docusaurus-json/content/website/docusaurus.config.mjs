export default {
  title: 'Small',
  presets: [['classic', {docs: {path: '../docs', sidebarPath: path.resolve(__dirname, './sidebars.json')}}]],
};
