return { n = measured("step", {value = "x", protocol = 2}) }
