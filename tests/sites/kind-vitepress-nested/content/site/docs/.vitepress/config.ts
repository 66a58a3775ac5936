import { draft } from './draft'

const preview = process.env.PREVIEW === 'yes'

export default {
  title: 'Nested',
  locales: {
    'en-US': { label: 'English', lang: 'en-US' },
    'fr-FR': { label: 'Français', lang: 'fr-FR' },
    ...(preview ? { 'zh-TW': draft } : {}),
  },
}
