return { n = measured("nothing", {value = "x"}) }
