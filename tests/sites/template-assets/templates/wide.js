// wide.js
