// other.js
