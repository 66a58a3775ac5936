return {parts = {title = "Parts", columns = {"peak"}, rows = {
  {"logits", computed(3 * 2^30, "B", "by hand")}, {"activations", computed(2^30, "B", "by hand")}}, limit = given(2^31, "B")}}
