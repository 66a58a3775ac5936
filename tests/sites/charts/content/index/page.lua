-- Charts of all five kinds from figures that are written by hand.
local function by_hand(gib) return computed(gib * 2^30, "B", "by hand") end
return {
  parts = {title = "Parts", rows_title = "Part", columns = {"eager", "compiled"},
    rows = {{"calc.part.logits", by_hand(3), by_hand(1)}, {"calc.part.activations", by_hand(1), by_hand(1)}}},
  rules = {title = "Rules", rows_title = "Config", columns = {"rule", "truth"},
    rows = {{"one", claimed(6 * 2^30, "B", "https://example.org/rule"), by_hand(4)}}},
  batches = {title = "Batches", rows_title = "batch", x = "batch", columns = {"eager"}, limit = given(12282, "MiB"),
    limit_label = "card", rows = {{1, by_hand(2)}, {8, by_hand(16)}}},
  step = {title = "Step", rows_title = "phase", columns = {"peak"}, points = {2^30, 2 * 2^30, 2^30}, marks = {1},
    rows = {{"forward", by_hand(2)}}},
  truth = {title = "Truth", rows_title = "run", columns = {"predicted", "measured"}, band = 0.05,
    rows = {{"one, 8 x {131072}", by_hand(4), reported(4.1 * 2^30, "B", "https://example.org/run")},
      {"near {it}", by_hand(4.05), reported(4.1 * 2^30, "B", "https://example.org/run")}}},
}
