export default {integrations: [starlight({title: 'Versions'})]};
