return {require "again"}
