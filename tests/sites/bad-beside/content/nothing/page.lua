return require "empty"
