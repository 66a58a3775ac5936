module.exports = ['second', { type: 'category', label: 'First ones', items: ['first'] }];
