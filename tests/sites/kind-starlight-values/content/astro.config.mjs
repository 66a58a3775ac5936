export default { integrations: [starlight({ title: 'Values' })] }
