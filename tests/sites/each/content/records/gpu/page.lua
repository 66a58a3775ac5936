return {context = measured("context", {device = gpu, value = "small"}),
  other = measured("context", {device = gpu, value = "nothing", optional = true})}
