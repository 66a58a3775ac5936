export default {integrations: [starlight({title: 'Listings'})]};
