return require "part"
