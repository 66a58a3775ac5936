return {words = {title = "the page of", columns = {"about"}, rows = {{card}}}}
