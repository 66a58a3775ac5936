return {
  peak = computed(6187763980, "B", {batch_size = 16, dtype = "float16"}),
  seen = reported(4464 * 2^20, "B", "https://example.org/seen"),
  rule = claimed(300e6, "B", "a rule of thumb"),
  measured_peak = measured("framework_step", {value = "max_memory_allocated_bytes"}),
}
