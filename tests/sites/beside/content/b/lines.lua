return {number = require "read".number}
