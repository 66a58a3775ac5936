return {of = require "read".lines}
