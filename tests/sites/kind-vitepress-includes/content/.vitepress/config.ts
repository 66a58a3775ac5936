export default { title: 'Included', srcDir: 'src', srcExclude: ['parts/**'] }
