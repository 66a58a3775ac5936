return {all = {title = "cards", columns = {"card", "memory"},
  rows = {{{"Card B", page = "cards/card-b"}, integer(given(2, ""))}, {{"Card A", page = "cards/card-a", state = "gpu=Card+A&x=1"}, "none"}}}}
