module.exports = {docs: ['intro', {type: 'category', label: 'More', items: ['deep/part', 'deep/called']}]};
