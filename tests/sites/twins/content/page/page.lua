return {reserved = computed(1 << 20, "B", "a power of two"), late = computed(3, "", "three"), size = given(2 << 20, "B")}
