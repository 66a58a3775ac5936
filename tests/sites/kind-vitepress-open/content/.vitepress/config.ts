import { defineConfig } from 'vitepress'
export default defineConfig({
  title: 'Notes',
  locales: { zh: { label: '简体中文' }, cht: { label: '繁體中文' }, en: { label: 'English' } },
})
