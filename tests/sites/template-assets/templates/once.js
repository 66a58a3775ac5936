// once.js
