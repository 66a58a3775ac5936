module.exports = {
  learn: require('./bars/learn'),
  more: require("./bars/more.json"),
  gone: require('./bars/gone'),
  outside: require('fs'),
};
